import { expect, test } from "bun:test";
import type { OrgRole } from "../../../../shared/vocabulary.ts";
import { insertInvitation, revokeAllSentInvitations } from "../../../../sql/accounts/invitations.ts";
import type { Sql } from "../../../../sql/connection/pool.ts";
import { runJson } from "../../../helpers/accounts/admin.ts";
import {
  ask,
  type MadeInvitation,
  makeInvitation,
  type OrgScene,
  openOrgScene,
  type SignedInPerson,
} from "../../../helpers/accounts/organization.ts";
import { commitDuring, listWaiting } from "../../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

/** Creates a signed-in user and invites them to the organization. */
async function invited(scene: OrgScene, role: OrgRole = "publisher", by = scene.owner) {
  const { api, org } = scene;
  const person = await api.make.person();
  const ann: SignedInPerson = { ...person, ...(await api.make.session({ userId: person.user.id })) };
  const email = ann.user.email.toUpperCase();
  const invitation = await makeInvitation(api, { orgId: org.id, email, role, invitedBy: by.user.id });
  return { ann, ...invitation };
}

function accept(
  scene: OrgScene,
  by: Pick<SignedInPerson, "token">,
  { token }: Pick<MadeInvitation, "token">,
) {
  return ask(scene.api, "/invitations/accept", { token: by.token, method: "POST", body: { token } });
}

function preview(
  scene: OrgScene,
  { token }: Pick<MadeInvitation, "token">,
  by?: Pick<SignedInPerson, "token">,
) {
  return ask(scene.api, "/invitations/preview", { ...by, method: "POST", body: { token } });
}

test("the invited person previews and accepts the invitation and becomes a member", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const { ann, ...invitation } = await invited(scene);
  const offer = {
    organization: { slug: org.slug, name: org.name },
    role: "publisher",
    email: ann.user.email,
    invitedBy: owner.user.username,
    expiresAt: expect.any(String),
  };
  expect(await preview(scene, invitation)).toMatchObject({ status: 200, data: offer });
  expect(await preview(scene, invitation, ann)).toMatchObject({ status: 200, data: offer });
  expect((await ask(api, `/orgs/${org.slug}`, { token: ann.token })).code).toBe("ORG_ACCESS_DENIED");
  expect(await accept(scene, ann, invitation)).toMatchObject({
    status: 200,
    data: { organization: offer.organization, role: "publisher" },
  });
  expect((await ask(api, `/orgs/${org.slug}`, { token: ann.token })).data).toMatchObject({
    role: "publisher",
  });
  const rows = await api.db.sql`select action, actor_user_id, subject_id, details from audit_log`;
  const details = {
    org: org.slug,
    username: ann.user.username,
    from: null,
    to: "publisher",
    invitedBy: owner.user.username,
  };
  const userId = ann.user.id;
  expect([...rows]).toEqual([{ action: "member.add", actorUserId: userId, subjectId: userId, details }]);
});

test("an invitation link works only once, even for concurrent requests", async () => {
  await using scene = await openOrgScene();
  for (let round = 0; round < 20; round += 1) {
    const { ann, ...invitation } = await invited(scene);
    const responses = await Promise.all(Array.from({ length: 4 }, () => accept(scene, ann, invitation)));
    const codes = responses.map(({ status, code }) => code ?? status).toSorted();
    expect(codes).toEqual([200, "VALIDATION_ERROR", "VALIDATION_ERROR", "VALIDATION_ERROR"]);
  }
  const actions = await scene.api.db.sql`select from audit_log where action = 'member.add'`;
  expect(actions).toHaveLength(20);
});

test("a removed member cannot rejoin with a used link", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const { ann, ...invitation } = await invited(scene);
  await accept(scene, ann, invitation);
  const path = `/orgs/${org.slug}/members/${ann.user.id}`;
  expect((await ask(api, path, { token: owner.token, method: "DELETE" })).status).toBe(204);
  expect((await accept(scene, ann, invitation)).code).toBe("VALIDATION_ERROR");
  expect(await scene.roles()).toEqual({ [owner.user.username]: "owner" });
});

test("an unused link fails once the invited member leaves or is removed, or the sender is removed", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const end = (userId: string, by: Pick<SignedInPerson, "token">) =>
    ask(api, `/orgs/${org.slug}/members/${userId}`, { token: by.token, method: "DELETE" });
  for (const isRemoved of [true, false]) {
    const { ann, ...invitation } = await invited(scene, "admin");
    await api.make.member({ orgId: org.id, userId: ann.user.id, role: "viewer" });
    expect((await end(ann.user.id, isRemoved ? owner : ann)).status).toBe(204);
    expect((await accept(scene, ann, invitation)).code).toBe("VALIDATION_ERROR");
  }
  const admin = await scene.join("admin");
  const { ann, ...invitation } = await invited(scene, "viewer", admin);
  expect((await end(admin.user.id, owner)).status).toBe(204);
  await api.make.member({ orgId: org.id, userId: admin.user.id, role: "admin" });
  expect((await accept(scene, ann, invitation)).code).toBe("VALIDATION_ERROR");
});

test("a link invalidated by its sender's demotion stays invalid when the sender regains the role", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const sender = await scene.join("owner");
  const [toOwner, toViewer] = [await invited(scene, "owner", sender), await invited(scene, "viewer", sender)];
  for (const role of ["admin", "owner"]) {
    const change = { token: owner.token, method: "PATCH", body: { role } };
    expect((await ask(api, `/orgs/${org.slug}/members/${sender.user.id}`, change)).status).toBe(200);
  }
  expect((await accept(scene, toOwner.ann, toOwner)).code).toBe("VALIDATION_ERROR");
  // This link stayed valid, because the sender may still invite viewers after becoming an admin.
  expect((await accept(scene, toViewer.ann, toViewer)).status).toBe(200);
});

test("an account with another address learns only the invited address and does not use up the link", async () => {
  await using scene = await openOrgScene();
  const { org } = scene;
  const { ann, ...invitation } = await invited(scene);
  const stranger = await scene.api.make.person();
  const mallory = await scene.api.make.session({ userId: stranger.user.id });
  for (const response of [
    await accept(scene, mallory, invitation),
    await preview(scene, invitation, mallory),
  ]) {
    expect(response).toMatchObject({ status: 403, code: "ORG_ACCESS_DENIED" });
    expect(response.error?.details).toEqual({ email: ann.user.email });
    expect(JSON.stringify(response.error)).not.toContain(org.slug);
    expect(JSON.stringify(response.error)).not.toContain(org.name);
  }
  expect((await accept(scene, ann, invitation)).status).toBe(200);
});

const DEAD: readonly [name: string, change: string][] = [
  ["has expired", "update organization_invitations set expires_at = now() - interval '1 second'"],
  ["was revoked", "update organization_invitations set revoked_at = now()"],
  ["was accepted", "update organization_invitations set accepted_at = now()"],
  ["has a link that has ended", "update account_mails set expires_at = now() - interval '1 second'"],
  ["has a sender who left", "delete from organization_members where role = 'owner'"],
  ["has a sender who is a publisher now", "update organization_members set role = 'publisher'"],
  [
    "has a sender whose account is disabled",
    "update users set disabled_at = now() where id in (select invited_by from organization_invitations)",
  ],
  ["is for an owner, and its sender is an admin now", "update organization_members set role = 'admin'"],
];

test("all invalid links return the same error as a link that was never sent", async () => {
  const seen = new Set<string>();
  for (const [name, change] of DEAD) {
    await using scene = await openOrgScene();
    const { ann, ...invitation } = await invited(scene, "owner");
    await scene.api.db.sql.unsafe(change);
    const unknown = { token: "x".repeat(43) };
    const responses = [
      await accept(scene, ann, invitation),
      await preview(scene, invitation),
      await preview(scene, invitation, ann),
      await accept(scene, ann, unknown),
    ];
    for (const { status, error } of responses) {
      expect([name, status]).toEqual([name, 400]);
      seen.add(JSON.stringify([error?.code, error?.message, error?.details]));
    }
    expect((await scene.roles())[ann.user.username]).toBeUndefined();
  }
  expect(seen.size).toBe(1);
});

test("an invitation whose sender is disabled is revoked, and enabling the sender does not restore it", async () => {
  await using scene = await openOrgScene();
  const { api, owner } = scene;
  const { ann, ...invitation } = await invited(scene);
  for (const verb of ["disable", "enable"]) {
    await runJson(api.db.url, ["user", verb, "--user", owner.user.username]);
  }
  expect((await accept(scene, ann, invitation)).code).toBe("VALIDATION_ERROR");
});

test("accepting an invitation is refused if its sender is disabled during the request", async () => {
  await using scene = await openOrgScene();
  const { ann, ...invitation } = await invited(scene);
  const disable = (tx: Sql) => revokeAllSentInvitations(tx, scene.owner.user.id);
  const { code } = await commitDuring(scene.api.db, disable, () => accept(scene, ann, invitation));
  expect(code).toBe("VALIDATION_ERROR");
});

test("tokens from other kinds of mail and malformed tokens are refused", async () => {
  await using scene = await openOrgScene();
  const { ann, token } = await invited(scene);
  await scene.api.db.sql`update account_mails set kind = 'password_reset'`;
  for (const wrong of [token, `${token} `, "", "a".repeat(201), `${token}\u0000`]) {
    expect((await accept(scene, ann, { token: wrong })).code).toBe("VALIDATION_ERROR");
  }
});

test("removing the sender while the invitation is accepted causes no deadlock, in either order", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const outcomes = new Set<string>();
  for (let round = 0; round < 20; round += 1) {
    const admin = await scene.join("admin");
    const { ann, ...invitation } = await invited(scene, "viewer", admin);
    const removal = { token: owner.token, method: "DELETE" };
    const moves = [
      () => accept(scene, ann, invitation),
      () => ask(api, `/orgs/${org.slug}/members/${admin.user.id}`, removal),
    ];
    if (round % 2 === 1) moves.reverse();
    const responses = await Promise.all(moves.map((move) => move()));
    if (round % 2 === 1) responses.reverse();
    const [accepted, removed] = responses;
    expect(removed?.status).toBe(204);
    const isMember = (await scene.roles())[ann.user.username] !== undefined;
    expect(isMember).toBe(accepted?.status === 200);
    outcomes.add(accepted?.code ?? "joined");
  }
  for (const outcome of outcomes) expect(["joined", "VALIDATION_ERROR"]).toContain(outcome);
});

test("accepting an invitation is refused if its sender is removed during the request", async () => {
  await using scene = await openOrgScene();
  const { api, org } = scene;
  const admin = await scene.join("admin");
  const { ann, ...invitation } = await invited(scene, "viewer", admin);
  const { accepted } = await api.db.sql.begin(async (tx) => {
    await tx`select from organizations where id = ${org.id} for no key update`;
    const response = accept(scene, ann, invitation);
    await waitFor(async () => (await listWaiting(api.db.admin)).length > 0);
    await tx`delete from organization_members where org_id = ${org.id} and user_id = ${admin.user.id}`;
    return { accepted: response };
  });
  expect(await accepted).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
  expect((await scene.roles())[ann.user.username]).toBeUndefined();
});

test("a link previews the new invitation if its invitation is replaced during the request", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const { ann, ...invitation } = await invited(scene, "viewer");
  const replace = async (tx: Sql) => {
    await tx`lock table organization_invitations`;
    const newest = { orgId: org.id, email: ann.user.email, role: "admin", invitedBy: owner.user.id } as const;
    const { id: invitationId } = await insertInvitation(tx, newest);
    await tx`update account_mails set details = ${tx.json({ invitationId })}`;
  };
  const offer = await commitDuring(api.db, replace, () => preview(scene, invitation));
  expect(offer).toMatchObject({ status: 200, data: { role: "admin" } });
});

test("a member who accepts an invitation keeps their role", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const viewer = await scene.join("viewer");
  const { email, username } = viewer.user;
  const invitation = await makeInvitation(api, {
    orgId: org.id,
    email,
    role: "admin",
    invitedBy: owner.user.id,
  });
  expect(await accept(scene, viewer, invitation)).toMatchObject({ status: 200, data: { role: "viewer" } });
  expect((await scene.roles())[username]).toBe("viewer");
  expect((await accept(scene, viewer, invitation)).status).toBe(400);
});

test("the log and the audit, mail and idempotency tables do not contain the invitation token", async () => {
  await using scene = await openOrgScene();
  const { ann, token } = await invited(scene);
  await preview(scene, { token });
  await accept(scene, ann, { token });
  await accept(scene, ann, { token });
  expect(JSON.stringify(scene.api.logLines)).not.toContain(token);
  const [dump] = await scene.api.db.sql`
    select
      (select json_agg(a) from audit_log a)::text
      || (select json_agg(m) from account_mails m)::text
      || coalesce((select json_agg(k) from idempotency_keys k)::text, '') as text`;
  expect(dump?.["text"]).not.toContain(token);
});
