import { expect, test } from "bun:test";
import { ask, createAgent, errorOf, publishAgent } from "../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { listWaiting } from "../../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

test("DELETE deletes a draft, and deleting the last version frees the name", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (const version of ["1.0.0", "1.1.0"]) await createAgent(api, person, { name: "reviewer", version });
  const remove = (name: string) => ask(api, `/agent/${name}`, person, { method: "DELETE" });
  const response = await remove("reviewer@1.0.0");
  expect([response.status, await response.json()]).toEqual([
    200,
    { data: { deleted: true, type: "agent", name: "reviewer", version: "1.0.0" } },
  ]);
  expect((await errorOf(await remove("reviewer@1.0.0"))).slice(0, 2)).toEqual([404, "NOT_FOUND"]);
  expect((await remove("reviewer@1.1.0")).status).toBe(200);
  const [count] = await api.db.sql`select count(*) as lines from definition_lines`;
  expect(count).toEqual({ lines: 0 });
});

test("DELETE rejects published versions and paths without a version", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer" });
  const remove = (name: string) => ask(api, `/agent/${name}`, person, { method: "DELETE" });
  expect(await errorOf(await remove("reviewer@1.0.0"))).toEqual([
    409,
    "NOT_DELETABLE",
    { status: "published" },
  ]);
  expect((await errorOf(await remove("reviewer"))).slice(0, 2)).toEqual([400, "VALIDATION_ERROR"]);
});

test("DELETE waits for another writer of the same line and then succeeds", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "reviewer", version: "1.0.0" });
  await createAgent(api, person, { name: "reviewer", version: "1.1.0" });
  const { sql } = api.db;
  let deleting: Promise<Response> | undefined;
  await sql.begin(async (tx) => {
    await tx`update definition_lines set name = name where name = 'reviewer'`;
    deleting = ask(api, "/agent/reviewer@1.0.0", person, { method: "DELETE" });
    await waitFor(async () => (await listWaiting(sql)).length > 0);
    // Publishing 1.1.0 fires a trigger that marks 1.0.0 as the latest draft, although 1.0.0 is being deleted.
    await tx`
      update definitions
      set status = 'published', visibility = 'public', published_at = now()
      where name = 'reviewer' and version = '1.1.0'`;
  });
  expect((await deleting)?.status).toBe(200);
  const left =
    await sql`select d.version from definitions as d join definition_listings as v on v.definition_id = d.id`;
  expect(left.map(({ version }) => version)).toEqual(["1.1.0"]);
});
