/** Responses to callers who lose access while their export is being prepared. */
import { expect, test } from "bun:test";
import { AFTER_ALL, makeExportProject } from "../../../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { Person } from "../../../helpers/postgres/factory.ts";
import { listWaiting } from "../../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const revokeKey = ({ db }: TestApp, { keyId }: Person) =>
  db.sql`update api_keys set revoked_at = now() where id = ${keyId}`;
const removeMember = ({ db }: TestApp, { user, org }: Person) =>
  db.sql`delete from organization_members where user_id = ${user.id} and org_id = ${org.id}`;

/**
 * Sends a request while `table` is locked, and ends the caller's access while the request waits for the lock. Unlocks
 * the table a second later, when the first access check is outdated.
 */
async function requestDuring(
  app: TestApp,
  { table, endAccess, request }: Record<"endAccess" | "request", () => Promise<unknown>> & { table: string },
): Promise<void> {
  let pending: Promise<unknown> = Promise.resolve();
  await app.db.owner.begin(async (tx) => {
    await tx`lock table ${tx(table)} in access exclusive mode`;
    pending = request();
    await waitFor(async () => (await listWaiting(app.db.admin, table)).length > 0);
    const waitsSince = performance.now();
    await endAccess();
    await waitFor(() => performance.now() - waitsSince > 1000);
  });
  await pending;
}

const CASES = [
  ["GET", "issues", revokeKey, 401],
  ["GET", "issues", removeMember, 404],
  ["GET", "bundle", revokeKey, 401],
  ["HEAD", "issues", removeMember, 404],
  ["GET", "estimate", revokeKey, 401],
] as const;

for (const [method, path, end, status] of CASES) {
  test(`${method} ${path} returns ${status} if access ends while rows are counted: ${end.name}`, async () => {
    await using app = await openTestApp();
    const { person, project } = await makeExportProject(app);
    const url = `/api/v1/export/projects/${project.id}/${path}?as_of=${AFTER_ALL}`;
    await requestDuring(app, {
      table: "issues",
      endAccess: () => end(app, person),
      request: async () => expect((await app.request(url, { method, key: person.key })).status).toBe(status),
    });
    expect([...(await app.db.sql`select action from audit_log where action like 'export.%'`)]).toEqual([]);
  });
}

test("an export returns 401 if the key is revoked after the count and before the first byte", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const get = (key: string) =>
    app.request(`/api/v1/export/projects/${project.id}/issues?as_of=${AFTER_ALL}`, { key });
  await requestDuring(app, {
    table: "audit_log",
    endAccess: () => revokeKey(app, person),
    request: async () => expect((await get(person.key)).status).toBe(401),
  });
  // The refused export has released its slot and its connection.
  const { key } = await app.make.key({ userId: person.user.id });
  for (const _ of [1, 2, 3]) {
    const response = await get(key);
    expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
  }
});
