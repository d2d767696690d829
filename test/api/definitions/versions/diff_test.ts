import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { unifiedDiff } from "../../../../api/documents/compare_documents.ts";
import type { SubscriptionTier } from "../../../../shared/vocabulary.ts";
import {
  agentYaml,
  ask,
  bareYaml,
  type Caller,
  createAgent,
  definitionOf,
  errorOf,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { parsed, readDemoDefinitions } from "../../../helpers/definitions/demo_definitions.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

type Comparison = Record<string, unknown>;

const OLD = `# what it is\n${agentYaml("reviewer")}  tone:\n    attributes: [calm]\n`;
const NEW = `${agentYaml("reviewer", "1.1.0", { displayName: "Second reader", tags: "[review]" })}  output:\n    format: markdown\n`;

/** Publishes the two versions that are compared. Returns the versions and their author. */
async function publishBoth(api: TestApp, tier: SubscriptionTier = "pro") {
  const person = await api.make.person({ tier });
  const from = await publishAgent(api, person, { name: "reviewer", yaml: OLD, visibility: "public" });
  const to = await publishAgent(api, person, {
    name: "reviewer",
    version: "1.1.0",
    yaml: NEW,
    visibility: "public",
  });
  return { person, from, to };
}

async function compare(api: TestApp, query: string, caller: Caller | null): Promise<Comparison> {
  const response = await ask(api, `/agent/reviewer/diff?${query}`, caller);
  expect([query, response.status]).toEqual([query, 200]);
  return (await response.json()) as Comparison;
}

test("everyone can compare sections, and the response has no data wrapper", async () => {
  await using api = await openTestApp();
  const { from, to } = await publishBoth(api);
  for (const query of ["", "&format=sections", "&full=false"]) {
    expect(await compare(api, `from=1.0.0&to=1.1.0${query}`, null)).toStrictEqual({
      fromVersion: "1.0.0",
      toVersion: "1.1.0",
      fromHash: from.hash,
      toHash: to.hash,
      hasChanges: true,
      fromPromptHash: promptDigest(from.runtimeMd),
      toPromptHash: promptDigest(to.runtimeMd),
      hasPromptChanges: true,
      fromLineCount: 13,
      toLineCount: 13,
      sectionsAdded: ["agent.output"],
      sectionsRemoved: ["agent.tone"],
      sectionsModified: ["agent.interface"],
      sectionsUnchanged: [],
    });
  }
  expect(await compare(api, "from=1.1.0&to=1.0.0", null)).toMatchObject({
    fromVersion: "1.1.0",
    sectionsAdded: ["agent.tone"],
    sectionsRemoved: ["agent.output"],
  });
});

test("different versions and comments do not count as changes", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = agentYaml("reviewer", "1.0.1").replace(
    "    displayName: Reviewer\n",
    "    # renamed once\n    displayName: Reviewer # so\n",
  );
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  await publishAgent(api, person, { name: "reviewer", version: "1.0.1", yaml, visibility: "public" });
  const compared = await compare(api, "from=1.0.0&to=1.0.1", null);
  expect(compared["fromPromptHash"]).toBe(compared["toPromptHash"]);
  expect(compared).toMatchObject({
    hasChanges: false,
    hasPromptChanges: false,
    fromLineCount: 10,
    toLineCount: 11,
    sectionsAdded: [],
    sectionsRemoved: [],
    sectionsModified: [],
  });
  const same = await compare(api, "from=1.0.0&to=1.0.0&format=unified", person);
  expect(same).toMatchObject({ hasChanges: false, hasPromptChanges: false, unified: "" });
});

test("a changed version line in the body of a prompt counts as a prompt change", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const purpose = (version: string) =>
    `${agentYaml("reviewer", version)}    stakes: "Reads files of\\nversion: ${version}"\n`;
  for (const version of ["1.0.0", "1.0.1"]) {
    await publishAgent(api, person, {
      name: "reviewer",
      version,
      yaml: purpose(version),
      visibility: "public",
    });
  }
  expect(await compare(api, "from=1.0.0&to=1.0.1", null)).toMatchObject({ hasPromptChanges: true });
  expect(await compare(api, "from=1.0.1&to=1.0.1", null)).toMatchObject({ hasPromptChanges: false });
});

test("versions without a rendering have no prompt hash", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = bareYaml("agent", "reviewer");
  await publishAgent(api, person, { name: "reviewer", yaml, visibility: "public" });
  await publishAgent(api, person, { name: "reviewer", version: "2.0.0", visibility: "public" });
  expect(await compare(api, "from=1.0.0&to=1.0.0", null)).toMatchObject({
    fromPromptHash: null,
    toPromptHash: null,
    hasPromptChanges: false,
  });
  expect(await compare(api, "from=1.0.0&to=2.0.0", null)).toMatchObject({
    fromPromptHash: null,
    toPromptHash: expect.stringMatching(/^sha256:/),
    hasPromptChanges: true,
  });
});

test("full=true adds both documents and the unchanged sections", async () => {
  await using api = await openTestApp();
  const { person } = await publishBoth(api);
  expect(await compare(api, "from=1.0.0&to=1.1.0&full=true", person)).toMatchObject({
    sectionsUnchanged: ["agent.mission"],
    fromYaml: OLD,
    toYaml: NEW,
  });
});

test("format=fields classifies the changes and suggests a version bump", async () => {
  await using api = await openTestApp();
  const { person } = await publishBoth(api);
  const changed = [
    {
      path: "agent.interface.displayName",
      type: "modified",
      oldValue: "Reviewer",
      newValue: "Second reader",
    },
    { path: "agent.interface.tags", type: "added", newValue: ["review"] },
    { path: "agent.output", type: "added", newValue: { format: "markdown" } },
    { path: "agent.tone", type: "removed", oldValue: { attributes: ["calm"] } },
  ];
  const sections = {
    added: ["agent.output"],
    removed: ["agent.tone"],
    modified: ["agent.interface"],
    unchanged: [],
  };
  const short = await compare(api, "from=1.0.0&to=1.1.0&format=fields", person);
  const { classified, ...rest } = short as { classified: Comparison[] };
  expect(rest).toMatchObject({
    hasChanges: true,
    fields: changed,
    summary: { added: 2, removed: 1, modified: 1, unchanged: 5 },
    sections,
    suggestedBump: "minor",
  });
  expect("fromYaml" in short).toBe(false);
  expect(classified.map(({ path, type, significance }) => [path, type, significance])).toEqual([
    ["agent.interface.displayName", "modified", "metadata"],
    ["agent.interface.tags", "added", "metadata"],
    ["agent.output", "added", "structural"],
    ["agent.tone", "removed", "structural"],
  ]);
  expect(classified.every(({ reason }) => typeof reason === "string")).toBe(true);
  const full = await compare(api, "from=1.0.0&to=1.1.0&format=fields&full=true", person);
  expect(full).toMatchObject({ toYaml: NEW, sections: { ...sections, unchanged: ["agent.mission"] } });
  const fields = full["fields"] as Comparison[];
  expect([fields.length, full["classified"]]).toEqual([9, classified]);
  expect(fields).toContainEqual({
    path: "agent.interface.domain",
    type: "unchanged",
    oldValue: "software",
    newValue: "software",
  });
});

test("format=unified returns the unified diff of the two documents", async () => {
  await using api = await openTestApp();
  const { person } = await publishBoth(api);
  const { unified } = await compare(api, "from=1.0.0&to=1.1.0&format=unified", person);
  expect(unified).toBe(unifiedDiff(OLD, NEW, "reviewer.agent.yaml"));
});

test("formats that show content require a paid tier in one of the caller's organizations", async () => {
  await using api = await openTestApp();
  const { person } = await publishBoth(api, "hobbyist");
  const free = await api.make.person({ tier: "free" });
  const plus = await api.make.person({ tier: "plus" });
  const bound = (orgId: string) => api.make.key({ userId: plus.user.id, orgId });
  const callers: readonly [string, Caller | null, boolean][] = [
    ["anonymous", null, false],
    ["free", { key: free.key }, false],
    ["hobbyist", { key: person.key }, true],
    ["hobbyist, meaning another organization", person, true],
    ["plus, by another organization than the personal one", { key: plus.key }, true],
    ["a key of the paid organization", await bound(plus.org.id), true],
    ["a key of the free organization", await bound(plus.personalOrg.id), false],
  ];
  for (const [who, caller, isPaid] of callers) {
    for (const mode of ["full=true", "format=fields", "format=unified", "format=unified&full=true"]) {
      const response = await ask(api, `/agent/reviewer/diff?from=1.0.0&to=1.1.0&${mode}`, caller);
      if (isPaid) expect([who, mode, response.status]).toEqual([who, mode, 200]);
      else {
        const details = { requiredTier: "hobbyist", currentTier: "free", feature: "diff" };
        const refusal = await errorOf(response);
        expect([who, mode, ...refusal]).toEqual([who, mode, 402, "SUBSCRIPTION_REQUIRED", details]);
      }
    }
    expect((await ask(api, "/agent/reviewer/diff?from=1.0.0&to=1.1.0", caller)).status).toBe(200);
  }
});

test("comparison errors take precedence in this order: 401, 400, 404, 402", async () => {
  await using api = await openTestApp();
  const { person } = await publishBoth(api);
  await createAgent(api, person, { name: "reviewer", version: "2.0.0", visibility: "public" });
  const both = "from=1.0.0&to=1.1.0";
  const errors = (...paths: string[]) => ({
    errors: paths.map((path) => ({ path, message: expect.any(String) })),
  });
  const missing = { reason: "version", type: "agent", name: "reviewer" };
  const cases: readonly [string, number, string, unknown][] = [
    ["reviewer/diff", 400, "VALIDATION_ERROR", errors("from", "to")],
    ["reviewer/diff?from=1.0.0", 400, "VALIDATION_ERROR", errors("to")],
    ["reviewer/diff?to=1.0.0&format=unified", 400, "VALIDATION_ERROR", errors("from")],
    ["reviewer/diff?from=1.0&to=latest", 400, "VALIDATION_ERROR", errors("from", "to")],
    [`reviewer/diff?${both}&format=words`, 400, "VALIDATION_ERROR", errors("format")],
    [`reviewer/diff?${both}&full=yes`, 400, "VALIDATION_ERROR", errors("full")],
    [`reviewer/diff?${both}&from=1.0.0`, 400, "VALIDATION_ERROR", errors("from")],
    [`reviewer@1.0.0/diff?${both}`, 400, "VALIDATION_ERROR", errors("name")],
    [`nobody/diff?${both}`, 404, "NOT_FOUND", { ...missing, reason: "definition", name: "nobody" }],
    ["reviewer/diff?from=9.0.0&to=1.0.0", 404, "NOT_FOUND", missing],
    ["reviewer/diff?from=1.0.0&to=9.0.0&full=true", 404, "NOT_FOUND", missing],
    ["reviewer/diff?from=1.0.0&to=2.0.0&format=fields", 404, "NOT_FOUND", missing],
  ];
  for (const [path, ...expected] of cases) {
    expect([path, ...(await errorOf(await ask(api, `/agent/${path}`, null)))]).toEqual([path, ...expected]);
  }
  expect((await ask(api, "/agent/reviewer/diff", { key: "ulr_wrong" })).status).toBe(401);
  expect(await compare(api, "from=1.1.0&to=2.0.0", person)).toMatchObject({ toVersion: "2.0.0" });
});

test("a stored version that is no longer valid cannot be compared, and the error describes the problem", async () => {
  await using api = await openTestApp();
  const person = await api.make.person({ tier: "pro" });
  const { id, yaml } = await createAgent(api, person, { name: "reviewer" });
  await createAgent(api, person, { name: "reviewer", version: "1.1.0" });
  const merged = `base: &b { a: 1 }\n${yaml}  extra:\n    <<: *b\n`;
  await api.db.sql`update definitions set yaml = ${merged} where id = ${id}`;
  const problem = { path: 'agent.extra["<<"]', message: expect.stringContaining("Merge keys"), line: 13 };
  const pairs = ["from=1.0.0&to=1.1.0", "from=1.1.0&to=1.0.0", "from=1.0.0&to=1.0.0"];
  for (const query of [...pairs, `${pairs[0]}&format=unified&full=true`]) {
    const refused = await ask(api, `/agent/reviewer/diff?${query}`, person);
    expect(await errorOf(refused)).toEqual([
      422,
      "UNPROCESSABLE_ENTITY",
      { errors: [expect.objectContaining(problem)] },
    ]);
  }
  expect(await compare(api, "from=1.1.0&to=1.1.0", person)).toMatchObject({ hasChanges: false });
});

test("comparisons support conditional requests", async () => {
  await using api = await openTestApp();
  const { person } = await publishBoth(api);
  const path = "/agent/reviewer/diff?from=1.0.0&to=1.1.0";
  const etag = (await ask(api, path, null)).headers.get("etag") ?? "";
  expect((await ask(api, path, null, { headers: { "if-none-match": etag } })).status).toBe(304);
  expect((await ask(api, `${path}&full=true`, person)).headers.get("etag")).not.toBe(etag);
  await write(api, "/agent/reviewer@1.0.0/deprecate", person, { body: { reason: "Made anew" } });
  expect((await ask(api, path, null)).headers.get("etag")).toBe(etag);
});

test("the prompt hashes of a comparison ignore the version for every definition type", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (const { type, yaml } of readDemoDefinitions()) {
    const { name } = parsed(yaml, type);
    const { version } = await definitionOf(await write(api, `/${type}/${name}`, person, { body: { yaml } }));
    const markdown = await (await ask(api, `/${type}/${name}@${version}.md`, person)).text();
    const diff = await ask(api, `/${type}/${name}/diff?from=${version}&to=${version}`, person);
    const hashes = { fromPromptHash: promptDigest(markdown), toPromptHash: promptDigest(markdown) };
    expect(await diff.json()).toMatchObject(hashes);
  }
});

function digest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Returns the digest of the Markdown without the version line in its front matter. */
function promptDigest(markdown: string | null): string | null {
  if (markdown === null) return null;
  const [, front = "", body = ""] = /^(---\n[\s\S]*?\n---\n)([\s\S]*)$/.exec(markdown) ?? [];
  const lines = front.split("\n").filter((line) => !line.startsWith("version: "));
  return digest(lines.join("\n") + body);
}
