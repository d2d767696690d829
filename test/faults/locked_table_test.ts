/** A table that an operator has locked: requests for it get a 503, and all others are served. */
import { expect, test } from "bun:test";
import { makeVersion } from "../helpers/definitions/definition_list.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { listWaiting } from "../helpers/postgres/waiting_sessions.ts";
import { startApi } from "../helpers/process/api_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** More requests than connections, so that all connections wait for the lock. */
const REQUESTS = 6;

test("while a table is locked, requests that read it get a 503, and requests for other tables succeed", async () => {
  await using db = await openTestDatabase();
  const { key, org, user } = await createFactory(db.sql).person();
  await makeVersion(db.sql, { orgId: org.id, authorId: user.id, name: "reviewer" });
  await using api = await startApi({ DATABASE_URL: db.url, DATABASE_POOL_MAX: "2" });
  const read = () => api.request("/api/v1/definitions/agent/reviewer", { key });
  const readOther = () => api.request(`/api/v1/orgs/${org.slug}/members`, { key });
  expect([(await read()).status, (await readOther()).status]).toEqual([200, 200]);

  await db.sql.begin(async (tx) => {
    await tx`lock table definitions in access exclusive mode`;
    const refused = Array.from({ length: REQUESTS }, read);
    await waitFor(async () => (await listWaiting(db.admin, "definitions")).length === 2);
    expect((await readOther()).status).toBe(200);
    for (const response of await Promise.all(refused)) {
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await response.json()).toMatchObject({ error: { code: "SERVICE_UNAVAILABLE" } });
    }
  });
  expect((await read()).status).toBe(200);
});
