import { expect, test } from "bun:test";
import { compareDocuments } from "../../../api/documents/compare_documents.ts";
import { openDocuments } from "../../../api/documents/documents.ts";
import { normalizeDocument } from "../../../api/documents/normal_form.ts";
import { readDocument } from "../../../api/documents/read_document.ts";
import { editDefinition } from "../../../shared/definitions/edit.ts";
import { ApiError } from "../../../shared/errors.ts";
import { createLog } from "../../../shared/process/log.ts";
import { agentYaml, ask, write } from "../../helpers/definitions/definitions.ts";
import { parsed, readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";
import { largeAgentYaml } from "../../helpers/definitions/large_documents.ts";
import { openListeningApp } from "../../helpers/http/listening_app.ts";

const AS_JSON = (value: unknown) => JSON.parse(JSON.stringify(value));

test("the thread returns the same results as direct calls", async () => {
  const opened = openDocuments({ inlineLength: 0 });
  const documents = opened.forCaller("user");
  for (const { type, yaml } of readDemoDefinitions()) {
    const given = { type, name: parsed(yaml, type).name, yaml };
    expect(await documents.read(given)).toEqual(AS_JSON(readDocument(given)));
    const changes = { version: "9.9.9", description: "Says something else" };
    const edited = await documents.edit({ yaml, changes });
    expect(edited).toEqual(editDefinition(yaml, changes));
    const normal = { type, yaml, includeYaml: true };
    expect(JSON.parse(await documents.normalize(normal))).toEqual(AS_JSON(normalizeDocument(normal)));
    const mode = { format: "fields", full: true } as const;
    const both = { type, name: "x", from: yaml, to: edited.ok ? edited.yaml : "", mode };
    expect(await documents.compare(both)).toEqual(compareDocuments(both));
  }
  await opened.close();
});

test("a bug in the translator or the scan is logged without the document's text", async () => {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    process: "test",
    destination: { write: (line) => lines.push(line) },
  });
  const opened = openDocuments({ log });
  const yaml = agentYaml("reviewer", "1.0.0", { description: "Prüft einen reviewer" });
  // Replaces built-in functions that the translator and the scan call. The replacements throw an error that contains their input.
  const { normalize } = String.prototype;
  const { byteLength } = Buffer;
  const failing = (text: string): never => {
    throw new RangeError(`cannot measure\n    at ${text}`);
  };
  String.prototype.normalize = function (this: string) {
    return failing(this);
  };
  Buffer.byteLength = (text) => failing(String(text));
  const reading = await opened
    .forCaller("user")
    .read({ type: "agent", name: null, yaml })
    .finally(() => {
      Object.assign(String.prototype, { normalize });
      Object.assign(Buffer, { byteLength });
    });
  await opened.close();
  expect(reading).toMatchObject({ ok: true, document: { scan: null, failures: [{ reason: "internal" }] } });
  const hash = reading.ok ? reading.document.content.hash : null;
  const stack = expect.arrayContaining([expect.stringContaining("translate")]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      event: "document.fault",
      level: "error",
      type: "agent",
      hash,
      part: "translator",
      error: "RangeError",
      stack,
    },
    { event: "document.fault", type: "agent", hash, part: "safety scan", error: "RangeError" },
  ]);
  expect(lines.join("")).not.toContain("reviewer");
});

test("fifty concurrent callers share one task, and later callers hit the cache", async () => {
  const opened = openDocuments({ maxWaiting: { reads: 1, writes: 1 } });
  const [from, to] = [largeAgentYaml("large"), largeAgentYaml("large", "1.1.0", 1)];
  const mode = { format: "sections", full: false } as const;
  const compare = async (_: unknown, index = 0) => {
    const caller = opened.forCaller(`user ${index}`);
    const compared = await caller.compare({ type: "agent", name: "large", from, to, mode });
    return compared.ok ? compared.json : "";
  };
  const texts = await Promise.all(Array.from({ length: 50 }, compare));
  expect(new Set(texts).size).toBe(1);
  expect(JSON.parse(texts[0] ?? "")).toMatchObject({ hasChanges: true, fromLineCount: 9_009 });
  await opened.close();
  // The thread is closed, so the result comes from the cache.
  expect(await compare(null)).toBe(texts[0] ?? "");
});

test("typical documents of up to 4,096 characters do not wait for the thread, but dense documents do", async () => {
  const opened = openDocuments();
  await opened.close();
  const { read } = opened.forCaller("user");
  const real = readDemoDefinitions().filter(({ yaml }) => yaml.length <= 4_096);
  expect(real.length).toBeGreaterThan(10);
  for (const { type, yaml } of real)
    expect(await read({ type, name: null, yaml })).toMatchObject({ ok: true });
  const dense = [
    `k: [${"[],".repeat(1_200)}]`,
    `k:\n${`    ${"- ".repeat(50)}x\n`.repeat(30)}`,
    Array.from({ length: 300 }, (_, n) => `k${n}: 1`).join("\n  "),
    `k: {${Array.from({ length: 700 }, (_, n) => n).join()}}`,
    "k: &values [1, 2]\n  l: [*values, *values]",
  ];
  for (const block of dense) {
    const yaml = agentYaml("dense").replace("agent:\n", `agent:\n  ${block}\n`);
    expect(yaml.length).toBeLessThanOrEqual(4_096);
    const refused = [503, "SERVICE_UNAVAILABLE", "2"];
    expect(await read({ type: "agent", name: null, yaml }).catch(errorOf)).toEqual(refused);
  }
});

test("the cache has a limit and keeps recent results", async () => {
  const [first, second, third] = ["1.0.0", "1.0.1", "1.0.2"].map((version) => ({
    type: "agent" as const,
    yaml: agentYaml("reviewer", version),
    includeYaml: false,
  }));
  if (!first || !second || !third) throw new Error("Cannot go on: a document is missing");
  const digestLength = 43;
  const bytes = 2 * (digestLength + JSON.stringify(normalizeDocument(first)).length);
  const opened = openDocuments({ inlineLength: 0, keptBytes: 2 * bytes });
  const { normalize } = opened.forCaller("user");
  for (const given of [first, second, first, third]) await normalize(given);
  await opened.close();
  const isKept = (given: typeof first) =>
    normalize(given).then(
      () => true,
      () => false,
    );
  expect(await Promise.all([first, second, third].map(isKept))).toEqual([true, false, true]);
});

test("an invalid document returns a list of problems, even when the thread reads the document", async () => {
  const opened = openDocuments();
  const documents = opened.forCaller("user");
  for (const yaml of ["agent: {", `agent: {\n${"# a comment\n".repeat(1_000)}`]) {
    expect(await documents.read({ type: "agent", name: "x", yaml })).toMatchObject({
      ok: false,
      problems: [{ path: "yaml" }],
    });
  }
  const edited = await documents.edit({ yaml: `a: b: c${" ".repeat(9_000)}`, changes: {} });
  expect(edited).toMatchObject({ ok: false, problems: [{ path: "yaml", line: 1 }] });
  await opened.close();
});

test("an overloaded thread rejects tasks with Retry-After, and rejects reads earlier than writes", async () => {
  const documents = openDocuments({ maxWaiting: { reads: 1, writes: 2 } });
  const normalize = (caller: string, version: string) =>
    documents
      .forCaller(caller)
      .normalize({ type: "agent", yaml: largeAgentYaml("large", version), includeYaml: false })
      .then(() => "done", errorOf);
  const read = (caller: string, version: string) =>
    documents
      .forCaller(caller)
      .read({ type: "agent", name: "large", yaml: largeAgentYaml("large", version) })
      .then(() => "done", errorOf);
  const refused = [503, "SERVICE_UNAVAILABLE", "2"];
  const outcomes = Promise.all([
    normalize("a", "1.0.0"),
    normalize("b", "1.0.1"),
    normalize("c", "1.0.2"),
    // This task is already running, so the caller joins it.
    normalize("d", "1.0.0"),
    read("e", "1.0.0"),
    read("f", "1.0.1"),
    documents
      .forCaller("g")
      .read({ type: "agent", name: "small", yaml: agentYaml("small") })
      .then(({ ok }) => ok),
  ]);
  expect(await outcomes).toEqual(["done", "done", refused, "done", "done", refused, true]);
  expect(await normalize("c", "1.0.2")).toBe("done");
  await documents.close();
});

test("a caller has at most two waiting tasks; other callers are not rejected", async () => {
  // With `inlineLength: 0`, the thread reads every document.
  const documents = openDocuments({ inlineLength: 0 });
  const read = (caller: string, version: string) =>
    documents
      .forCaller(caller)
      .read({ type: "agent", name: "large", yaml: agentYaml("large", version) })
      .then(() => "done", errorOf);
  const refused = [429, "RATE_LIMITED", "2"];
  const outcomes = await Promise.all([
    ...["1.0.0", "1.0.1", "1.0.2", "1.0.3", "1.0.4"].map((version) => read("hostile", version)),
    read("honest", "2.0.0"),
    // This task is already waiting, and joining it adds no work.
    read("honest", "1.0.1"),
  ]);
  expect(outcomes).toEqual(["done", "done", "done", refused, refused, "done", "done"]);
  await documents.close();
});

test("reading a document under the wrong name returns the name in the document and its position", async () => {
  const documents = openDocuments().forCaller("user");
  const reading = await documents.read({ type: "agent", name: "other", yaml: agentYaml("reviewer") });
  expect(reading).toEqual({ ok: false, otherName: "reviewer", line: 3, column: 11 });
});

function errorOf(error: unknown) {
  if (!(error instanceof ApiError)) throw error;
  return [error.status, error.code, error.headers["Retry-After"]];
}

test("other requests are served while large documents are read, edited, compared and normalized", async () => {
  await using server = await openListeningApp();
  const api = server.app;
  const documents = api.deps.documents.forCaller("user");
  const [yaml, next] = [largeAgentYaml("large"), largeAgentYaml("large", "1.1.0", 1)];
  const mode = { format: "fields", full: false } as const;
  const works: Readonly<Record<string, () => Promise<unknown>>> = {
    read: () => documents.read({ type: "agent", name: "large", yaml }),
    "read another": () => documents.read({ type: "agent", name: "large", yaml: next }),
    edit: () => documents.edit({ yaml, changes: { description: "Says something else" } }),
    compare: () => documents.compare({ type: "agent", name: "large", from: yaml, to: next, mode }),
    normalize: () => documents.normalize({ type: "agent", yaml, includeYaml: true }),
  };
  for (const [what, work] of Object.entries(works)) {
    // A response takes about a millisecond. Without a thread, no response would arrive before the work is done.
    const responses = await countResponses(`${server.origin}/health/live`, work());
    expect([what, responses > 20]).toEqual([what, true]);
  }
  const person = await api.make.person({ tier: "pro" });
  for (const text of [yaml, next]) {
    const body = { yaml: text, visibility: "public" };
    expect((await write(api, "/agent/large", person, { body })).status).toBe(201);
  }
  for (const version of ["1.0.0", "1.1.0"]) {
    expect((await write(api, `/agent/large@${version}/publish`, person)).status).toBe(200);
  }
  for (const path of ["/diff?from=1.0.0&to=1.1.0&format=fields", "@1.0.0?normalize=true"]) {
    expect([path, (await ask(api, `/agent/large${path}`, person)).status]).toEqual([path, 200]);
  }
});

/** Counts the responses of a cheap route until the work is done. */
async function countResponses(url: string, work: Promise<unknown>): Promise<number> {
  let responses = 0;
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    if ((await fetch(url)).ok) responses += 1;
  }
  await done;
  return responses;
}
