/** The sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name. */
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";

const DEFAULT = "parentbased_always_on";

/** Returns the sampler. Calls `onProblem` with a sentence for an unknown sampler or an invalid ratio, and uses the default. */
export function createSampler(
  env: Readonly<Record<string, string | undefined>>,
  onProblem: (problem: string) => void,
): Sampler {
  const name = env["OTEL_TRACES_SAMPLER"]?.trim() || DEFAULT;
  const [, parentBased, rootName = ""] = /^(parentbased_)?(.+)$/.exec(name) ?? [];
  const root = createRoot(rootName, () => readRatio(env["OTEL_TRACES_SAMPLER_ARG"], onProblem));
  if (!root) {
    onProblem(`OTEL_TRACES_SAMPLER: unknown sampler; using ${DEFAULT}`);
    return new ParentBasedSampler({ root: new AlwaysOnSampler() });
  }
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

function createRoot(name: string, ratio: () => number): Sampler | null {
  if (name === "always_on") return new AlwaysOnSampler();
  if (name === "always_off") return new AlwaysOffSampler();
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(ratio());
  return null;
}

function readRatio(text: string | undefined, onProblem: (problem: string) => void): number {
  const ratio = Number(text?.trim() || 1);
  if (ratio >= 0 && ratio <= 1) return ratio;
  onProblem("OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1; using 1");
  return 1;
}
