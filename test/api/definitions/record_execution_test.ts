/** Permissions to record executions, and the versions that can be recorded. */
import { expect, test } from "bun:test";
import {
  ask,
  type Caller,
  createAgent,
  errorOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { countsOf, makePlatformAdmin, record, statisticsOf } from "../../helpers/definitions/executions.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { listWaiting } from "../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../helpers/wait_for.ts";

test("only platform administrators can record executions, and a source is required", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const admin = await makePlatformAdmin(api);
  await publishAgent(api, person, { name: "open", visibility: "public" });
  await createAgent(api, person, { name: "unfinished", visibility: "public" });
  const owner = { key: person.key, org: person.org };
  const body = { source: "sdk" };
  const reading = await api.make.user({ platformRole: "admin" });
  const readOnly = await api.make.key({ userId: reading.id, scope: "read" });
  const refused: readonly [string, Caller | null, unknown, readonly unknown[]][] = [
    ["/agent/open", null, body, [401, "UNAUTHORIZED"]],
    ["/agent/open", owner, body, [403, "ROLE_REQUIRED", { requiredRole: "admin" }]],
    ["/agent/nobody", owner, body, [403, "ROLE_REQUIRED", { requiredRole: "admin" }]],
    ["/agent/open", readOnly, body, [403, "INSUFFICIENT_SCOPE"]],
    ["/agent/open", { ...admin, org: person.org }, body, [403, "ORG_ACCESS_DENIED"]],
    [
      "/agent/open@2.0.0",
      admin,
      body,
      [404, "NOT_FOUND", { reason: "version", type: "agent", name: "open" }],
    ],
    [
      "/agent/unfinished",
      admin,
      body,
      [404, "NOT_FOUND", { reason: "version", type: "agent", name: "unfinished" }],
    ],
    [
      "/agent/nobody",
      admin,
      body,
      [404, "NOT_FOUND", { reason: "definition", type: "agent", name: "nobody" }],
    ],
  ];
  for (const [path, caller, sent, expected] of refused) {
    const response = await ask(api, `${path}/executions`, caller, { method: "POST", body: sent });
    expect([path, ...(await errorOf(response))]).toEqual([path, ...expected]);
  }
  const wrong: readonly [unknown, string][] = [
    [{}, "source"],
    [{ source: "" }, "source"],
    [{ source: "   " }, "source"],
    [{ source: 7 }, "source"],
    [{ source: "s".repeat(51) }, "source"],
    [{ source: "a\0b" }, "source"],
    [{ source: "sdk", runId: "" }, "runId"],
    [{ source: "sdk", runId: 7 }, "runId"],
    [{ source: "sdk", runId: "r".repeat(201) }, "runId"],
  ];
  for (const [sent, path] of wrong) {
    const response = await write(api, "/agent/open/executions", admin, { body: sent });
    const [status, code, details] = await errorOf(response);
    expect([sent, status, code, details]).toEqual([
      sent,
      400,
      "VALIDATION_ERROR",
      { errors: [{ path, message: expect.any(String) }] },
    ]);
  }
  expect(await countsOf(api, "open")).toMatchObject({ executionCount: 0, records: 0 });
});

test("platform administrators can record executions of every version, even outside their organizations", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const admin = await makePlatformAdmin(api);
  const source = { source: "sdk" };
  const states = ["draft", "published", "deprecated", "archived"] as const;
  for (const [minor, status] of states.entries()) {
    await makeDefinition(api.db.sql, person, { name: "closed", version: `1.${minor}.0`, status });
  }
  for (const [path, version] of [
    ["/agent/closed", "1.1.0"],
    ...states.map((_, minor) => [`/agent/closed@1.${minor}.0`, `1.${minor}.0`] as const),
  ] as const) {
    const recorded = await record(api, admin, path, source);
    expect([path, recorded]).toMatchObject([path, { status: 201, definition: { name: "closed", version } }]);
  }
  expect(await countsOf(api, "closed")).toMatchObject({ executionCount: 5, records: 5, audited: 5 });
  // The platform role does not permit reading private definitions. A bound key works only in its organization.
  for (const path of ["/agent/closed", "/agent/closed/executions", "/agent/closed@1.1.0"]) {
    expect([path, (await ask(api, path, admin)).status]).toEqual([path, 404]);
  }
  const user = await api.make.user({ platformRole: "admin" });
  const own = await api.make.org();
  await api.make.member({ orgId: own.id, userId: user.id, role: "viewer" });
  const bound = await api.make.key({ userId: user.id, orgId: own.id });
  const refused = await write(api, "/agent/closed/executions", bound, { body: source });
  expect((await errorOf(refused)).slice(0, 2)).toEqual([404, "NOT_FOUND"]);
});

test("a private line never gets the executions of a public line with the same name", async () => {
  await using api = await openTestApp();
  const early = await api.make.person();
  const late = await api.make.person();
  const admin = await makePlatformAdmin(api);
  await publishAgent(api, early, { name: "reviewer" });
  await createAgent(api, early, { name: "reviewer", version: "2.0.0" });
  const open = await publishAgent(api, late, { name: "reviewer", visibility: "public" });
  for (const path of ["/agent/reviewer", "/agent/reviewer@1.0.0"]) {
    expect(await record(api, admin, path, { source: "sdk" })).toMatchObject({ definition: { id: open.id } });
  }
  expect(await record(api, admin, "/agent/reviewer@2.0.0", { source: "sdk" })).toMatchObject({
    status: 201,
    definition: { version: "2.0.0" },
    executionCount: 1,
  });
});

test("the executions of a deleted draft still count for its line", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const { org } = person;
  await api.db.sql`update users set platform_role = 'admin' where id = ${person.user.id}`;
  const caller = { key: person.key, org };
  await publishAgent(api, caller, { name: "reviewer", visibility: "public" });
  await createAgent(api, caller, { name: "reviewer", version: "2.0.0" });
  await record(api, caller, "/agent/reviewer@2.0.0", { source: "sdk" });
  await record(api, caller, "/agent/reviewer", { source: "sdk" });
  const deleted = await ask(api, "/agent/reviewer@2.0.0", caller, { method: "DELETE" });
  expect(deleted.status).toBe(200);
  expect(await statisticsOf(api, "/agent/reviewer", "?include=byVersion", caller)).toEqual({
    totalCount: 2,
    recentCount: 2,
    windowMinutes: 60,
    byVersion: [{ version: "1.0.0", count: 1 }],
  });
});

test("recording an execution of a draft that is being deleted returns 404", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const admin = await makePlatformAdmin(api);
  await createAgent(api, person, { name: "reviewer", version: "1.0.0" });
  const { sql } = api.db;
  let recording: Promise<Response> | undefined;
  await sql.begin(async (tx) => {
    await tx`delete from definitions where name = 'reviewer'`;
    const body = { source: "cli" };
    recording = write(api, "/agent/reviewer@1.0.0/executions", admin, { body });
    await waitFor(async () => (await listWaiting(sql)).length > 0);
  });
  expect((await recording)?.status).toBe(404);
  expect(await sql`select from definition_executions`).toHaveLength(0);
});
