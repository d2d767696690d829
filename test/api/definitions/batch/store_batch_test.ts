import { expect, test } from "bun:test";
import type { DefinitionType } from "../../../../shared/vocabulary.ts";
import {
  agentNeeding,
  agentYaml,
  bareYaml,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { readDemoDefinitions } from "../../../helpers/definitions/demo_definitions.ts";
import { openTestApp, type TestApp, testRequest } from "../../../helpers/http/app.ts";
import { loadBundledCatalog } from "../../../helpers/models/catalog.ts";
import { randomNumbers } from "../../../helpers/random_numbers.ts";

interface Sample {
  type: DefinitionType;
  yaml: string;
}

/** Returns valid documents, and documents with each kind of error. */
function listSamples(): Sample[] {
  const demo = readDemoDefinitions();
  const written = [
    bareYaml("agent", "bare"),
    `# name: other\n${agentYaml("misnamed")}`,
    agentYaml("sample-name").replace('"1.0.0"', "1.0"),
    agentYaml("self-loop", "1.0.0", { dependencies: "{ requires: [self-loop@^1.0.0] }" }),
    agentNeeding("two", ["one@^1.0.0"]),
    agentNeeding("one", ["two@^1.0.0"]),
    agentYaml("toolbox", "1.0.0", { tools: "[Reed, Bash(rm -rf /)]" }),
    `${agentYaml("modeled")}  defaults:\n    model: no-such-model-9\n`,
    "",
    "[]",
    "agent: [",
    `# ${"x".repeat(153_600)}`,
  ].map((yaml) => ({ type: "agent" as const, yaml }));
  return [...demo, ...mutated(demo), ...written];
}

/** Returns two random variants of each document: one with lines removed, and one with a token inserted. */
function mutated(samples: readonly Sample[]): Sample[] {
  const random = randomNumbers(7);
  const pick = (length: number) => Math.floor(random() * length);
  return samples.flatMap(({ type, yaml }) => {
    const lines = yaml.split("\n");
    const without = lines.toSpliced(pick(lines.length), 1 + pick(3)).join("\n");
    const at = pick(yaml.length);
    const inserted = yaml.slice(0, at) + (["\t", ":", "}", "- ", "\n", "*x"][pick(6)] ?? "") + yaml.slice(at);
    return [without, inserted].map((text) => ({ type, yaml: text }));
  });
}

/** Creates and publishes a document over HTTP, as a client would. Returns the outcome of each step. */
async function store(api: TestApp, { type, yaml }: Sample, name: string) {
  const person = await caller(api);
  const created = await write(api, `/${type}/${name}`, person, { body: { yaml } });
  const definition = (await created.json()) as { data?: { version: string; runtimeMd: string | null } };
  if (created.status !== 201) return { created: codeOf(definition), published: null, runtimeMd: null };
  const { version = "", runtimeMd = null } = definition.data ?? {};
  const published = await write(api, `/${type}/${name}@${version}/publish`, person);
  const body = (await published.json()) as { warnings?: unknown; data?: { riskProfile: RiskProfile } };
  return {
    created: "ok",
    published: published.status === 200 ? "ok" : codeOf(body),
    warnings: body.warnings,
    risk: body.data?.riskProfile?.sync.signals,
    runtimeMd,
  };
}

type RiskProfile = { sync: { signals: unknown } } | null;

function codeOf(body: object): string {
  return (body as { error?: { code: string } }).error?.code ?? "";
}

const people = new WeakMap<TestApp, ReturnType<TestApp["make"]["person"]>>();

function caller(api: TestApp) {
  const person = people.get(api) ?? api.make.person();
  people.set(api, person);
  return person;
}

interface Report {
  valid: boolean;
  errors: { code: string; message: string }[];
  warnings: unknown[];
  riskProfile: RiskProfile;
  runtimeMd: string | null;
}

async function validate(api: TestApp, sample: Sample, options: object): Promise<Report> {
  const body = { ...sample, ...options };
  const response = await write(api, "/validate", await caller(api), { body });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Report }).data;
}

test("validation accepts exactly the documents that can be created and published, with the same warnings", async () => {
  await using api = await openTestApp();
  await loadBundledCatalog(api.db.sql);
  const seen = new Set<string>();
  for (const { type, yaml } of listSamples()) {
    const sample = { type, yaml };
    const name = /name: ([a-z0-9-]+)/.exec(yaml)?.[1] ?? "nameless";
    const draft = await validate(api, sample, { name });
    const report = await validate(api, sample, { name, publish: true });
    const stored = await store(api, sample, name);
    seen.add(`${stored.created} ${stored.published}`);
    expect([yaml, draft.errors[0]?.code ?? "ok"]).toEqual([yaml, stored.created]);
    expect([yaml, report.errors[0]?.code ?? "ok"]).toEqual([yaml, stored.published ?? stored.created]);
    expect(report.valid).toBe(report.errors.length === 0);
    if (stored.created === "ok") expect(report.runtimeMd).toBe(stored.runtimeMd);
    if (stored.published !== "ok") continue;
    expect([yaml, report.warnings]).toEqual([yaml, stored.warnings as unknown[]]);
    expect(report.riskProfile?.sync.signals).toEqual(stored.risk);
  }
  // The samples cover every outcome.
  expect([...seen].sort()).toEqual([
    "NAME_MISMATCH null",
    "PAYLOAD_TOO_LARGE null",
    "UNPROCESSABLE_ENTITY null",
    "VALIDATION_ERROR null",
    "VERSION_EXISTS null",
    "ok DEPENDENCY_CYCLE",
    "ok ok",
  ]);
});

test.each(["read", "compare"] as const)(
  "a validation whose client disconnects does not %s the next document",
  async (step) => {
    await using api = await openTestApp();
    const person = await api.make.person();
    const names = ["one", "two", "three"];
    for (const name of names) await publishAgent(api, person, { name });
    const abort = new AbortController();
    const { documents } = api.deps;
    const { forCaller } = documents;
    let steps = 0;
    documents.forCaller = (...given) => {
      const work = forCaller(...given);
      const leave = () => {
        steps += 1;
        abort.abort();
      };
      return {
        ...work,
        [step](document: never) {
          leave();
          return work[step](document);
        },
      };
    };
    const url = "http://localhost/api/v1/definitions/batch";
    const definitions = names.map((name) => ({ yaml: agentYaml(name, "1.1.0") }));
    const body = { definitions, validate: true };
    const request = testRequest(url, {
      method: "POST",
      key: person.key,
      headers: { "x-org-slug": person.org.slug },
      body,
    });
    const response = await api.app.handle(new Request(request, { signal: abort.signal }), "192.0.2.1");
    expect([response.status, steps]).toEqual([503, 1]);
  },
);
