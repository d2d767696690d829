import { expect, test } from "bun:test";
import { ROOT_CONTEXT, SpanKind } from "@opentelemetry/api";
import { SamplingDecision } from "@opentelemetry/sdk-trace";
import { createSampler } from "../../../../shared/tracing/sdk.ts";

/** Returns the number of sampled traces out of 100 without a parent, and the reported problems. */
function sample(env: Readonly<Record<string, string>>) {
  const problems: string[] = [];
  const sampler = createSampler(env, (problem) => problems.push(problem));
  const sampled = Array.from({ length: 100 }, (_, index) => {
    const traceId = `${(index + 1).toString(16).padStart(8, "0")}${"0".repeat(16)}${(index * 42_949_672).toString(16).padStart(8, "0")}`;
    return sampler.shouldSample(ROOT_CONTEXT, traceId, "name", SpanKind.SERVER, {}, []).decision;
  }).filter((decision) => decision === SamplingDecision.RECORD_AND_SAMPLED).length;
  return { sampled, problems };
}

test("the samplers always_on, always_off and traceidratio are supported, with and without parentbased_", () => {
  for (const prefix of ["", "parentbased_"]) {
    expect(sample({ OTEL_TRACES_SAMPLER: `${prefix}always_on` })).toEqual({ sampled: 100, problems: [] });
    expect(sample({ OTEL_TRACES_SAMPLER: `${prefix}always_off` })).toEqual({ sampled: 0, problems: [] });
    const OTEL_TRACES_SAMPLER = `${prefix}traceidratio`;
    expect(sample({ OTEL_TRACES_SAMPLER })).toEqual({ sampled: 100, problems: [] });
    const half = sample({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG: "0.5" });
    expect([half.sampled > 10 && half.sampled < 90, half.problems]).toEqual([true, []]);
  }
});

test("if the sampler is unknown or the ratio is invalid, a problem is reported and every trace is sampled", () => {
  expect(sample({})).toEqual({ sampled: 100, problems: [] });
  expect(sample({ OTEL_TRACES_SAMPLER: "jaeger_remote" })).toEqual({
    sampled: 100,
    problems: ["OTEL_TRACES_SAMPLER: unknown sampler; using parentbased_always_on"],
  });
  for (const ratio of ["2", "-1", "half"]) {
    const env = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: ratio };
    expect(sample(env)).toEqual({
      sampled: 100,
      problems: ["OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1; using 1"],
    });
  }
});
