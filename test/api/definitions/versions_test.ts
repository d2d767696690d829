import { expect, test } from "bun:test";
import {
  agentYaml,
  ask,
  bareYaml,
  type Caller,
  createAgent,
  errorOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../helpers/http/app.ts";

interface History {
  versions: Record<string, unknown>[];
  total: number;
  limit: number;
  offset: number;
}

async function historyOf(response: Response): Promise<History> {
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: History }).data;
}

test("the history lists every version, highest first, with exactly the documented fields", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const first = await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  await write(api, "/agent/reviewer@1.0.0/deprecate", person, { body: { reason: "Made anew" } });
  await write(api, "/agent/reviewer@1.0.0/archive", person);
  await createAgent(api, person, { name: "reviewer", version: "1.9.0", visibility: "public" });
  await write(api, "/agent/reviewer@1.9.0", person, {
    method: "PUT",
    body: { changeSummary: "Reads tests too", changeType: "major" },
  });
  await write(api, "/agent/reviewer@1.9.0/publish", person);
  await createAgent(api, person, { name: "reviewer", version: "1.10.0" });
  const history = await historyOf(await ask(api, "/agent/reviewer/versions", person));
  expect(history).toMatchObject({ total: 3, limit: 50, offset: 0 });
  expect(Object.keys(history)).toEqual(["versions", "total", "limit", "offset"]);
  const common = {
    hash: expect.stringMatching(/^sha256:/),
    createdAt: expect.any(String),
    createdBy: person.user.id,
    quarantinedAt: null,
    quarantineReason: null,
  };
  const rendered = { promptHash: expect.stringMatching(/^sha256:/) };
  expect(history.versions).toStrictEqual([
    {
      ...common,
      ...rendered,
      id: expect.any(String),
      version: "1.10.0",
      status: "draft",
      changeSummary: null,
      changeType: "minor",
    },
    {
      ...common,
      ...rendered,
      id: expect.any(String),
      version: "1.9.0",
      status: "published",
      changeSummary: "Reads tests too",
      changeType: "major",
    },
    {
      id: first.id,
      version: "1.0.0",
      status: "archived",
      hash: first.hash,
      promptHash: first.promptHash,
      changeSummary: null,
      changeType: "major",
      createdAt: first.createdAt,
      createdBy: person.user.id,
      quarantinedAt: null,
      quarantineReason: null,
    },
  ]);
  const anonymous = await historyOf(await ask(api, "/agent/reviewer/versions", null));
  expect([anonymous.total, anonymous.versions.map(({ version }) => version)]).toEqual([
    2,
    ["1.9.0", "1.0.0"],
  ]);
});

test("a version that cannot be rendered has no prompt hash", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const body = { yaml: bareYaml("command", "check"), visibility: "public" };
  await write(api, "/command/check", person, { body });
  const { versions } = await historyOf(await ask(api, "/command/check/versions", person));
  expect(versions.map(({ promptHash }) => promptHash)).toEqual([null]);
});

test("the history is paginated, with empty pages past the end", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (let minor = 0; minor < 12; minor += 1) {
    const version = `1.${minor}.0`;
    await makeDefinition(api.db.sql, person, {
      name: "reviewer",
      version,
      status: minor === 5 ? "draft" : "published",
      visibility: "public",
    });
  }
  const page = async (query: string, caller: Caller | null = null) => {
    const { versions, total, limit, offset } = await historyOf(
      await ask(api, `/agent/reviewer/versions${query}`, caller),
    );
    return [versions.map(({ version }) => version), total, limit, offset];
  };
  expect(await page("?limit=2")).toEqual([["1.11.0", "1.10.0"], 11, 2, 0]);
  expect(await page("?limit=3&offset=5")).toEqual([["1.6.0", "1.4.0", "1.3.0"], 11, 3, 5]);
  expect(await page("?limit=3&offset=5", person)).toEqual([["1.6.0", "1.5.0", "1.4.0"], 12, 3, 5]);
  expect(await page("?offset=11")).toEqual([[], 11, 50, 11]);
  expect(await page("?limit=100&offset=1000000000")).toEqual([[], 11, 100, 1_000_000_000]);
});

test("requests for an unknown history or with invalid parameters are refused", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const cases: readonly [string, number, string][] = [
    ["/agent/nobody/versions", 404, "NOT_FOUND"],
    ["/command/reviewer/versions", 404, "NOT_FOUND"],
    ["/robot/reviewer/versions", 400, "VALIDATION_ERROR"],
    ["/agent/Reviewer/versions", 400, "VALIDATION_ERROR"],
    ["/agent/reviewer@1.0.0/versions", 400, "VALIDATION_ERROR"],
    ["/agent/reviewer/versions?limit=0", 400, "VALIDATION_ERROR"],
    ["/agent/reviewer/versions?limit=101", 400, "VALIDATION_ERROR"],
    ["/agent/reviewer/versions?limit=ten", 400, "VALIDATION_ERROR"],
    ["/agent/reviewer/versions?limit=5&limit=6", 400, "VALIDATION_ERROR"],
    ["/agent/reviewer/versions?offset=-1", 400, "VALIDATION_ERROR"],
  ];
  for (const [path, status, code] of cases) {
    const refusal = await errorOf(await ask(api, path, null));
    expect([path, ...refusal.slice(0, 2)]).toEqual([path, status, code]);
  }
  const bad = { key: "ulr_wrong" };
  expect((await ask(api, "/agent/reviewer/versions", bad)).status).toBe(401);
  const stranger = await api.make.person();
  const elsewhere = { key: stranger.key, org: person.org };
  expect((await ask(api, "/agent/reviewer/versions", elsewhere)).status).toBe(403);
});

test("a history supports conditional requests and HEAD", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const path = "/agent/reviewer/versions";
  const etag = (await ask(api, path, null)).headers.get("etag") ?? "";
  expect((await ask(api, path, null, { headers: { "if-none-match": etag } })).status).toBe(304);
  expect((await ask(api, path, null, { method: "HEAD" })).status).toBe(200);
  await createAgent(api, person, {
    name: "reviewer",
    yaml: agentYaml("reviewer", "2.0.0"),
    visibility: "public",
  });
  expect((await ask(api, path, null, { headers: { "if-none-match": etag } })).status).toBe(304);
  await write(api, "/agent/reviewer@2.0.0/publish", person);
  expect((await ask(api, path, null, { headers: { "if-none-match": etag } })).status).toBe(200);
});
