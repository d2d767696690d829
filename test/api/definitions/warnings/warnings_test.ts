/** Warnings about names: references that resolve to a stranger's definition, and unknown models. */
import { expect, test } from "bun:test";
import { listUnknownNames } from "../../../../api/definitions/warnings.ts";
import { namesOf } from "../../../../api/models/similar_names.ts";
import {
  agentNeeding,
  type Caller,
  createAgent,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { loadBundledCatalog } from "../../../helpers/models/catalog.ts";

interface Given {
  requires: readonly string[];
  version?: string;
}

async function listForeign(response: Response): Promise<unknown[]> {
  const body = (await response.json()) as { warnings?: unknown[]; data: { warnings?: unknown[] } };
  const warnings = (body.warnings ?? body.data.warnings) as { code: string; details: unknown }[];
  return warnings.filter(({ code }) => code === "FOREIGN_REFERENCE").map(({ details }) => details);
}

/**
 * Validates a version as a publication and as a draft, then publishes it. Returns the details of the FOREIGN_REFERENCE warnings,
 * which must be the same in all three responses.
 */
async function publish(api: TestApp, caller: Caller, { requires, version = "1.0.0" }: Given) {
  const yaml = agentNeeding("user", requires, version);
  const tried = await write(api, "/validate", caller, { body: { type: "agent", yaml, publish: true } });
  const asDraft = await write(api, "/validate", caller, { body: { type: "agent", yaml } });
  await createAgent(api, caller, { name: "user", version, yaml });
  const published = await listForeign(await write(api, `/agent/user@${version}/publish`, caller));
  expect(await listForeign(tried)).toEqual(published);
  expect(await listForeign(asDraft)).toEqual(published);
  return published;
}

test("a bare name that resolves to a stranger's definition causes a warning that names the stranger's organization", async () => {
  await using api = await openTestApp();
  const [author, stranger] = [await api.make.person(), await api.make.person()] as const;
  expect(await publish(api, author, { requires: ["leaf"] })).toEqual([]);
  await publishAgent(api, stranger, { name: "leaf", visibility: "public" });
  const { slug } = stranger.org;
  const foreign = { type: "agent", name: "leaf", range: "latest", organization: slug };
  expect(await publish(api, author, { requires: ["leaf"], version: "1.0.1" })).toEqual([foreign]);
  // The next version resolves the name to the same line, so the publication does not repeat the warning.
  expect(await publish(api, author, { requires: ["leaf"], version: "1.0.2" })).toEqual([]);
  expect(await publish(api, author, { requires: [`@${slug}/leaf`], version: "1.0.3" })).toEqual([]);
  await publishAgent(api, author, { name: "leaf" });
  expect(await publish(api, author, { requires: ["leaf"], version: "1.0.4" })).toEqual([]);
});

test("names in the author's organizations and qualified names cause no warning", async () => {
  await using api = await openTestApp();
  const [author, stranger] = [await api.make.person(), await api.make.person()] as const;
  const personal = { key: author.key, org: author.personalOrg };
  await publishAgent(api, personal, { name: "mine", visibility: "public" });
  await publishAgent(api, stranger, { name: "leaf", visibility: "public" });
  const requires = ["mine", `@${stranger.org.slug}/leaf`, "missing"];
  expect(await publish(api, author, { requires })).toEqual([]);
});

test("a batch warns about each range of a reference to a stranger's definition", async () => {
  await using api = await openTestApp();
  const [author, stranger] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, stranger, { name: "leaf", visibility: "public" });
  const yaml = agentNeeding("user", ["leaf@^1.0.0", "leaf@1.0.0", "leaf@^2.0.0"]);
  const body = { definitions: [{ yaml }], publish: true };
  const response = await write(api, "/batch", author, { body });
  const { data } = (await response.json()) as {
    data: { definitions: { warnings: { code: string; message: string }[] }[] };
  };
  const { slug } = stranger.org;
  expect(data.definitions[0]?.warnings.map(({ code, message }) => `${code} ${message}`)).toEqual([
    'UNRESOLVED_REFERENCE No published agent matches the reference "leaf@^2.0.0".',
    ...["^1.0.0", "1.0.0"].map(
      (range) =>
        `FOREIGN_REFERENCE The reference "leaf@${range}" resolves to agent "@${slug}/leaf" of an organization that you do not belong to. If you mean it, write @${slug}/leaf@${range}.`,
    ),
  ]);
});

test("several unresolved references to the same name cause one warning", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  const phases = ["a", "b"].map((id) => ({ id, steps: [{ agent: "gone@^1.0.0" }] }));
  const workflow = { interface: { name: "flow", version: "1.0.0" }, orchestration: { phases } };
  const yaml = JSON.stringify({ workflow });
  const response = await write(api, "/validate", author, {
    body: { type: "workflow", yaml, publish: true },
  });
  const { data } = (await response.json()) as {
    data: { warnings: { code: string }[]; references: unknown[] };
  };
  const unresolved = data.warnings.filter(({ code }) => code === "UNRESOLVED_REFERENCE");
  expect([unresolved.length, data.references.length]).toEqual([1, 2]);
});

/** Wraps a list so that each method call on it calls `onWalk`. */
function watched<Item extends object | string>(list: readonly Item[], onWalk: () => void): readonly Item[] {
  return new Proxy(list, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value === "function") onWalk();
      return value;
    },
  });
}

test("a catalog's names are indexed once for all unknown models", async () => {
  await using api = await openTestApp();
  await loadBundledCatalog(api.db.sql);
  const { catalog: cache } = api.deps;
  let walks = 0;
  const onWalk = () => {
    walks += 1;
  };
  const current = await cache.current();
  const catalog = { ...current, entries: watched(current.entries, onWalk) };
  const index = namesOf(catalog);
  Object.assign(index, { names: watched(index.names, onWalk) });
  const check = (...names: string[]) =>
    listUnknownNames(
      { catalog: { current: async () => catalog } },
      { models: names.map((text) => ({ text, path: "agent.model", line: 1, column: 1 })), unknownTools: [] },
    );
  await check("openai/gtp-0");
  const first = walks;
  const found = await check("openai/gtp-5", "gpt-5-mni", "openai/gpt-5", "gpt-5", "claude-sonnet-4-5");
  expect(walks).toBe(first);
  expect(found.map(({ details }) => details)).toEqual([
    { model: "openai/gtp-5", suggestion: "openai/gpt-5" },
    { model: "gpt-5-mni", suggestion: "gpt-5-mini" },
  ]);
});
