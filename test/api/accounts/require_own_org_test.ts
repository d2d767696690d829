import { afterAll, beforeAll, expect, test } from "bun:test";
import { auditRows } from "../../helpers/accounts/accounts.ts";
import { type CallerName, expectedOf } from "../../helpers/http/access_classes.ts";
import { type Asked, askAll, type Row } from "../../helpers/http/access_rows.ts";
import { type AccessScene, openAccessScene } from "../../helpers/http/access_scene.ts";
import { ACCESS_TABLE } from "../../helpers/http/access_table.ts";
import { commitDuring } from "../../helpers/postgres/waiting_sessions.ts";

const CALLER = "ownerSession";

let scene: AccessScene;
let userId: string;
let orgId: string;
beforeAll(async () => {
  const opened = await openAccessScene();
  const { org } = opened.placeOf(CALLER);
  orgId = org.id;
  // A second owner sends the requests. The first owner creates the resources that they change.
  const { user } = await opened.api.make.person({ org, role: "owner" });
  userId = user.id;
  const session = await opened.api.make.session({ userId, factorAt: new Date().toISOString() });
  const credential = async () => ({ userId, key: session.token });
  scene = { ...opened, callers: { ...opened.callers, [CALLER]: credential } };
});
afterAll(() => scene[Symbol.asyncDispose]());

/** Sends the row's request. While the request waits for a lock, demotes or removes the caller. Then restores the owner role. */
async function askDuring(row: Row, change: "demote" | "remove"): Promise<Asked | undefined> {
  const { db } = scene.api;
  const [asked] = await commitDuring(
    db,
    (tx) =>
      change === "demote"
        ? tx`update organization_members set role = 'viewer' where org_id = ${orgId} and user_id = ${userId}`
        : tx`delete from organization_members where org_id = ${orgId} and user_id = ${userId}`,
    () => askAll(scene, row, { callers: [CALLER] }),
  );
  await db.sql`
    insert into organization_members (org_id, user_id, role)
    values (${orgId}, ${userId}, 'owner')
    on conflict on constraint organization_members_pkey do update
    set role = 'owner'`;
  return asked;
}

function isDeniedByRole({ access, ok }: Row, caller: CallerName): boolean {
  return expectedOf(access, caller, ok) === "403 INSUFFICIENT_ORG_ROLE";
}

const ROLE_WRITES = ACCESS_TABLE.filter((row) => {
  const isForRole = isDeniedByRole(row, "viewer") || isDeniedByRole(row, "session");
  return isForRole && !row.route.startsWith("GET");
});

test("on every write route with a role check, a caller who is demoted during the request is refused", async () => {
  expect(ROLE_WRITES.length).toBeGreaterThan(40);
  const served: string[] = [];
  for (const row of ROLE_WRITES) {
    const before = (await auditRows(scene.api)).length;
    const asked = await askDuring(row, "demote");
    const actions = (await auditRows(scene.api)).slice(before).map(({ action }) => action);
    const isRefused = asked?.verdict === "403 INSUFFICIENT_ORG_ROLE" && !actions.includes(row.audit);
    if (!isRefused) served.push(`${row.route} ${row.about ?? ""}: ${asked?.verdict}`);
  }
  expect(served).toEqual([]);
});

test("a caller who is removed during the request is refused, but an owner who stays is not", async () => {
  for (const [action, refusal] of [
    ["project.update", "403 ORG_ACCESS_DENIED"],
    // Another organization's job causes the same error.
    ["export_job.cancel", "404 EXPORT_JOB_NOT_FOUND"],
  ] as const) {
    const row = ROLE_WRITES.find(({ audit }) => audit === action);
    if (!row) throw new Error(`Cannot find the row of ${action}`);
    expect((await askDuring(row, "remove"))?.verdict).toBe(refusal);
    const [asked] = await askAll(scene, row, { callers: [CALLER] });
    expect(asked?.verdict).toBe("200");
  }
});
