import { expect, test } from "bun:test";
import type { OrgRole } from "../../../../shared/vocabulary.ts";
import { auditRows } from "../../../helpers/accounts/accounts.ts";
import {
  ask,
  type OrgScene,
  openOrgScene,
  type SignedInPerson,
} from "../../../helpers/accounts/organization.ts";

const memberPath = ({ org }: OrgScene, { user }: Pick<SignedInPerson, "user">) =>
  `/orgs/${org.slug}/members/${user.id}`;

function change(scene: OrgScene, by: SignedInPerson, target: SignedInPerson, role: OrgRole) {
  return ask(scene.api, memberPath(scene, target), { token: by.token, method: "PATCH", body: { role } });
}

function remove(scene: OrgScene, by: SignedInPerson, target: SignedInPerson) {
  return ask(scene.api, memberPath(scene, target), { token: by.token, method: "DELETE" });
}

test("an owner changes a role and removes a member, with an audit entry for each", async () => {
  await using scene = await openOrgScene();
  const { api, owner, org } = scene;
  const viewer = await scene.join("viewer");
  const changed = await change(scene, owner, viewer, "owner");
  const { id: userId, username } = viewer.user;
  expect(changed).toMatchObject({ status: 200, data: { member: { userId, username, role: "owner" } } });
  // The member already has the owner role. The request adds no audit entry.
  expect((await change(scene, owner, viewer, "owner")).status).toBe(200);
  expect((await remove(scene, owner, viewer)).status).toBe(204);
  expect(await remove(scene, owner, viewer)).toMatchObject({
    status: 404,
    error: { details: { reason: "member" } },
  });
  expect(await scene.roles()).toEqual({ [owner.user.username]: "owner" });
  const subject = { subjectType: "user", subjectId: userId, actorUserId: owner.user.id };
  expect([...(await auditRows(api))].slice(0, 2)).toMatchObject([
    {
      ...subject,
      action: "member.update",
      details: { org: org.slug, username, from: "viewer", to: "owner" },
    },
    {
      ...subject,
      action: "member.remove",
      details: { org: org.slug, username, from: "owner", to: null, revokedKeys: 0 },
    },
  ]);
});

const ADMIN_MAY: readonly [from: OrgRole, to: OrgRole, code: string | undefined][] = [
  ["viewer", "publisher", undefined],
  ["publisher", "admin", undefined],
  ["admin", "viewer", undefined],
  ["viewer", "owner", "INSUFFICIENT_ORG_ROLE"],
  ["owner", "owner", "INSUFFICIENT_ORG_ROLE"],
  ["owner", "viewer", "INSUFFICIENT_ORG_ROLE"],
];

test.each(ADMIN_MAY)("an admin who changes a %s to %s gets error code %p", async (from, to, code) => {
  await using scene = await openOrgScene();
  const [admin, target] = [await scene.join("admin"), await scene.join(from)];
  expect((await change(scene, admin, target, to)).code).toBe(code);
  expect((await scene.roles())[target.user.username]).toBe(code ? from : to);
  const mayRemove = (await scene.roles())[target.user.username] !== "owner";
  expect((await remove(scene, admin, target)).code).toBe(mayRemove ? undefined : "INSUFFICIENT_ORG_ROLE");
});

test("publishers and viewers cannot change any role, including their own, but can leave", async () => {
  await using scene = await openOrgScene();
  for (const role of ["publisher", "viewer"] as const) {
    const [member, other] = [await scene.join(role), await scene.join("viewer")];
    const requests = [
      change(scene, member, other, "viewer"),
      change(scene, member, member, "admin"),
      remove(scene, member, other),
    ];
    for (const { status, code } of await Promise.all(requests)) {
      expect([role, status, code]).toEqual([role, 403, "INSUFFICIENT_ORG_ROLE"]);
    }
    expect((await remove(scene, member, member)).status).toBe(204);
    expect(await remove(scene, member, member)).toMatchObject({ status: 403, code: "ORG_ACCESS_DENIED" });
  }
});

test("a non-member's ID gets the same error as an unknown ID, and an invalid UUID is refused", async () => {
  await using scene = await openOrgScene();
  const { api, owner, org } = scene;
  const stranger = await api.make.user();
  const refusals = async (id: string) => {
    const seen = [];
    for (const [method, body] of [["PATCH", { role: "viewer" }], ["DELETE"]] as const) {
      const { status, error } = await ask(api, `/orgs/${org.slug}/members/${id}`, {
        token: owner.token,
        method,
        body,
      });
      seen.push({ status, code: error?.code, message: error?.message, details: error?.details });
    }
    return seen;
  };
  const strangers = await refusals(stranger.id);
  for (const { status, code } of strangers) expect([status, code]).toEqual([404, "NOT_FOUND"]);
  expect(await refusals(crypto.randomUUID())).toEqual(strangers);
  for (const id of ["me", `${stranger.id}0`]) {
    for (const refusal of await refusals(id)) {
      expect(refusal).toMatchObject({
        ...{ status: 400, code: "VALIDATION_ERROR" },
        details: { errors: [{ path: "userId", message: "must be a UUID" }] },
      });
    }
  }
  const shouted = await ask(api, `/orgs/${org.slug}/members/${owner.user.id.toUpperCase()}`, {
    token: owner.token,
    method: "DELETE",
  });
  expect(shouted.code).toBe("LAST_OWNER");
});

test("the last owner whose account is enabled can neither leave nor step down", async () => {
  await using scene = await openOrgScene();
  const { api, owner } = scene;
  const other = await scene.join("owner");
  await api.db.sql`update users set disabled_at = now() where id = ${other.user.id}`;
  for (const response of [await change(scene, owner, owner, "admin"), await remove(scene, owner, owner)]) {
    expect(response).toMatchObject({ status: 409, code: "LAST_OWNER" });
    expect(response.error?.message).toContain("has no other owner");
  }
  expect((await remove(scene, owner, other)).status).toBe(204);
});

test("a personal organization can have members, but only one owner, who cannot leave", async () => {
  await using scene = await openOrgScene();
  const { api, owner } = scene;
  const guest = await scene.join("viewer");
  const home = { ...scene, org: owner.personalOrg };
  await api.make.member({ orgId: owner.personalOrg.id, userId: guest.user.id, role: "viewer" });
  expect((await change(home, owner, guest, "admin")).status).toBe(200);
  const second = await change(home, owner, guest, "owner");
  expect(second).toMatchObject({ status: 400, error: { details: { reason: "personal_organization" } } });
  for (const response of [await change(home, owner, owner, "admin"), await remove(home, owner, owner)]) {
    expect(response).toMatchObject({ status: 409, code: "LAST_OWNER" });
    expect(response.error?.message).toContain("personal organization");
  }
});

test("invalid bodies are refused before anything is written", async () => {
  await using scene = await openOrgScene();
  const { api, owner } = scene;
  const viewer = await scene.join("viewer");
  for (const body of [{}, { role: "boss" }, { role: "admin", userId: owner.user.id }, { role: null }, []]) {
    const response = await ask(api, memberPath(scene, viewer), { token: owner.token, method: "PATCH", body });
    expect([JSON.stringify(body), response.code]).toEqual([JSON.stringify(body), "VALIDATION_ERROR"]);
  }
  expect((await scene.roles())[viewer.user.username]).toBe("viewer");
  expect(await auditRows(api)).toHaveLength(0);
});
