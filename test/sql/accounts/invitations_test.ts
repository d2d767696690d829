import { expect, test } from "bun:test";
import {
  existsPendingInvitation,
  insertInvitation,
  listPendingInvitations,
} from "../../../sql/accounts/invitations.ts";
import { deleteOldRows, OLD_ROWS } from "../../../sql/delete_old_rows.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";

const EMAIL = "Ann@Example.com";

async function openScene() {
  const db = await openTestDatabase();
  const make = createFactory(db.sql);
  const { user, org } = await make.person({ role: "owner" });
  const invite = (role: "owner" | "admin" | "viewer" = "viewer") =>
    insertInvitation(db.sql, { orgId: org.id, email: EMAIL, role, invitedBy: user.id });
  const isPending = () => existsPendingInvitation(db.sql, EMAIL.toUpperCase());
  return {
    db,
    sql: db.sql,
    user,
    org,
    invite,
    isPending,
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

test("stores an invitation's address in lower case, and keeps the invitation pending for seven days", async () => {
  await using scene = await openScene();
  const { sql, org, user } = scene;
  expect(await scene.isPending()).toBe(false);
  const { id, createdAt, expiresAt } = await scene.invite();
  expect(await scene.isPending()).toBe(true);
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * 24 * 3_600_000);
  const pending = await listPendingInvitations(sql, org.id);
  expect(pending).toEqual([
    { id, email: "ann@example.com", role: "viewer", invitedBy: user.username, createdAt, expiresAt },
  ]);
  await sql`update organization_invitations set expires_at = now() - interval '1 second'`;
  expect(await scene.isPending()).toBe(false);
});

test("revokes an earlier invitation to the same address, even an expired invitation", async () => {
  await using scene = await openScene();
  const first = await scene.invite();
  await scene.sql`update organization_invitations set expires_at = now() - interval '1 second'`;
  const second = await scene.invite("admin");
  const pending = await listPendingInvitations(scene.sql, scene.org.id);
  expect(pending.map(({ id, role }) => ({ id, role }))).toEqual([{ id: second.id, role: "admin" }]);
  const [revoked] = await scene.sql`select revoked_at from organization_invitations where id = ${first.id}`;
  expect(revoked).toEqual({ revokedAt: expect.any(String) });
});

test.each([
  ["accepted", "update organization_invitations set accepted_at = now()"],
  ["revoked", "update organization_invitations set revoked_at = now()"],
  ["from a disabled account", "update users set disabled_at = now()"],
  ["from a publisher", "update organization_members set role = 'publisher'"],
  ["an admin's offer of the owner role", "update organization_members set role = 'admin'"],
  ["from a former member", "delete from organization_members"],
])("an invitation is not pending if it is %s", async (_, change) => {
  await using scene = await openScene();
  await scene.invite("owner");
  expect(await scene.isPending()).toBe(true);
  await scene.sql.unsafe(change);
  expect(await scene.isPending()).toBe(false);
  expect(await listPendingInvitations(scene.sql, scene.org.id)).toEqual([]);
});

test("keeps an admin's offer of the admin role pending", async () => {
  await using scene = await openScene();
  await scene.invite("admin");
  await scene.sql`update organization_members set role = 'admin'`;
  expect(await scene.isPending()).toBe(true);
});

test("deletes invitations after 30 days", async () => {
  await using scene = await openScene();
  await scene.invite();
  await scene.sql`update organization_invitations set created_at = now() - interval '31 days'`;
  const { id } = await scene.invite();
  expect(await deleteOldRows(scene.sql, { ...OLD_ROWS.invitations, limit: 10 })).toBe(1);
  expect([...(await scene.sql`select id from organization_invitations`)]).toEqual([{ id }]);
});
