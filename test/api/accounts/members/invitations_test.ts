import { expect, test } from "bun:test";
import {
  HOURLY_INVITATIONS_MAX,
  PENDING_INVITATIONS_MAX,
} from "../../../../api/accounts/members/invitations.ts";
import { mintLinkToken } from "../../../../shared/account_mail_kinds.ts";
import type { OrgRole } from "../../../../shared/vocabulary.ts";
import { storedMails } from "../../../helpers/accounts/account_mail.ts";
import {
  ask,
  makeInvitation,
  type OrgScene,
  openOrgScene,
  type SignedInPerson,
} from "../../../helpers/accounts/organization.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";

interface Listed {
  id: string;
  email: string;
  role: OrgRole;
  invitedBy: string;
}

function invite(scene: OrgScene, by: SignedInPerson, email: string, role: OrgRole = "viewer") {
  const path = `/orgs/${scene.org.slug}/invitations`;
  return ask(scene.api, path, { token: by.token, method: "POST", body: { email, role } });
}

async function pending(scene: OrgScene, by = scene.owner): Promise<Listed[]> {
  const { data } = await ask(scene.api, `/orgs/${scene.org.slug}/invitations`, { token: by.token });
  return data?.["invitations"] as Listed[];
}

test("an invitation is listed until it is revoked, and its audit entries omit the address", async () => {
  await using scene = await openOrgScene();
  const { api, owner, org } = scene;
  const made = await invite(scene, owner, "Ann@Example.com", "owner");
  expect(made.status).toBe(201);
  const invitation = made.data?.["invitation"] as Listed;
  expect(invitation).toMatchObject({
    email: "ann@example.com",
    role: "owner",
    invitedBy: owner.user.username,
  });
  expect(await pending(scene)).toEqual([invitation]);
  const path = `/orgs/${org.slug}/invitations/${invitation.id}`;
  expect((await ask(api, path, { token: owner.token, method: "DELETE" })).status).toBe(204);
  expect(await pending(scene)).toEqual([]);
  const again = await ask(api, path, { token: owner.token, method: "DELETE" });
  expect(again).toMatchObject({ status: 404, error: { details: { reason: "invitation" } } });
  const rows = await api.db.sql`select action, subject_id, details from audit_log order by id`;
  const details = { org: org.slug, role: "owner" };
  expect([...rows]).toEqual([
    { action: "invitation.create", subjectId: invitation.id, details },
    { action: "invitation.revoke", subjectId: invitation.id, details },
  ]);
});

test("a new invitation replaces the earlier invitation for the same address", async () => {
  await using scene = await openOrgScene();
  const admin = await scene.join("admin");
  await invite(scene, scene.owner, "ann@example.com", "publisher");
  await invite(scene, admin, "ANN@example.com", "viewer");
  const [one, ...others] = await pending(scene);
  expect([one?.role, one?.invitedBy, others]).toEqual(["viewer", admin.user.username, []]);
});

test("an invitation that exceeds the mail limit can be opened with the last link sent", async () => {
  await using scene = await openOrgScene();
  const { api, owner } = scene;
  for (let n = 0; n < 3; n += 1) await invite(scene, owner, "ann@example.com", "admin");
  const { token, tokenHash } = mintLinkToken();
  await api.db.sql`
    update account_mails
    set token_hash = ${tokenHash}, sent_at = now()
    where id = (select id from account_mails order by created_at desc limit 1)`;
  expect((await invite(scene, owner, "Ann@example.com", "viewer")).status).toBe(201);
  const offer = await ask(api, "/invitations/preview", { method: "POST", body: { token } });
  expect(offer).toMatchObject({ status: 200, data: { role: "viewer", email: "ann@example.com" } });
});

test("after a stranger invites an address three times, another organization's invitation is still mailed", async () => {
  await using scene = await openOrgScene();
  const { api, owner } = scene;
  const { org, ...stranger } = await api.make.person({ role: "owner" });
  const session = await api.make.session({ userId: stranger.user.id });
  for (let n = 0; n < 3; n += 1) {
    await invite({ ...scene, org }, { ...stranger, org, ...session }, "ann@example.com");
  }
  expect((await invite(scene, owner, "ann@example.com")).status).toBe(201);
  // The mails of replaced invitations are skipped.
  await using runner = await openTestRunner(api);
  await runner.accountMails();
  const mails = await storedMails(api);
  expect(mails.map(({ headers }) => headers["subject"])).toContain(
    `${owner.user.username} invites you to ${scene.org.name}`,
  );
  expect(mails).toHaveLength(2);
  const counted = await api.db
    .sql`select id from account_mails where not is_over_limit and skipped_at is null`;
  expect(counted).toHaveLength(2);
});

test("twenty concurrent requests from two senders to invite one address leave one invitation", async () => {
  await using scene = await openOrgScene();
  const senders = [scene.owner, await scene.join("owner")];
  const requests = Array.from({ length: 10 }, () =>
    senders.map((sender) => invite(scene, sender, "ann@example.com")),
  ).flat();
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([201]));
  expect(await pending(scene)).toHaveLength(1);
});

test("admins list all invitations, but cannot create or revoke owner invitations; publishers cannot invite or list", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const admin = await scene.join("admin");
  expect((await invite(scene, admin, "a@example.com", "admin")).status).toBe(201);
  expect(await invite(scene, admin, "b@example.com", "owner")).toMatchObject({
    status: 403,
    error: { details: { currentRole: "admin", requiredRole: "owner" } },
  });
  await invite(scene, owner, "c@example.com", "owner");
  const seen = await pending(scene, admin);
  expect(seen.map(({ email }) => email)).toEqual(["c@example.com", "a@example.com"]);
  const path = `/orgs/${org.slug}/invitations/${seen[0]?.id}`;
  const revoked = await ask(api, path, { token: admin.token, method: "DELETE" });
  expect(revoked.code).toBe("INSUFFICIENT_ORG_ROLE");
  // An invitation to the same address would replace the pending owner invitation.
  expect((await invite(scene, admin, "C@example.com")).code).toBe("INSUFFICIENT_ORG_ROLE");
  const publisher = await scene.join("publisher");
  expect((await invite(scene, publisher, "d@example.com")).code).toBe("INSUFFICIENT_ORG_ROLE");
  const list = await ask(api, `/orgs/${org.slug}/invitations`, { token: publisher.token });
  expect(list.code).toBe("INSUFFICIENT_ORG_ROLE");
  expect(await pending(scene)).toHaveLength(2);
});

test("revoking another organization's invitation fails like revoking a missing invitation", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const other = await api.make.person({ role: "owner" });
  const made = { orgId: other.org.id, email: "ann@example.com", invitedBy: other.user.id };
  const { id } = await makeInvitation(api, made);
  const seen = [];
  for (const wanted of [id, crypto.randomUUID(), "x"]) {
    const path = `/orgs/${org.slug}/invitations/${wanted}`;
    const { status, error } = await ask(api, path, { token: owner.token, method: "DELETE" });
    seen.push(JSON.stringify([status, error?.message, error?.details]));
  }
  expect(new Set(seen).size).toBe(1);
});

test("inviting a stranger, an account, a member or a disabled account returns the same response", async () => {
  await using scene = await openOrgScene();
  const { api, owner } = scene;
  const account = await api.make.user();
  const disabled = await api.make.user({ disabledAt: new Date().toISOString() });
  const member = await scene.join("viewer");
  const emails = ["nobody@example.com", account.email, disabled.email, member.user.email, owner.user.email];
  const seen = new Set<string>();
  for (const email of emails) {
    const { status, data } = await invite(scene, owner, email);
    const { role, invitedBy, ...others } = (data?.["invitation"] ?? {}) as Listed;
    seen.add(JSON.stringify([status, role, invitedBy, Object.keys(others)]));
  }
  expect([...seen]).toEqual([
    JSON.stringify([201, "viewer", owner.user.username, ["id", "email", "createdAt", "expiresAt"]]),
  ]);
  expect(await pending(scene)).toHaveLength(emails.length);
});

test("an organization with a hundred pending invitations can only replace one, not add another", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  await api.db.sql`
    insert into organization_invitations (org_id, email, role, invited_by, created_at)
    select ${org.id}, 'person' || n || '@example.com', 'viewer', ${owner.user.id}, now() - interval '2 hours'
    from generate_series(1, ${PENDING_INVITATIONS_MAX}) as n`;
  expect(await invite(scene, owner, "one.more@example.com")).toMatchObject({
    status: 409,
    error: { details: { quota: "invitations", limit: PENDING_INVITATIONS_MAX } },
  });
  expect((await invite(scene, owner, "person7@example.com")).status).toBe(201);
  expect(await pending(scene)).toHaveLength(PENDING_INVITATIONS_MAX);
});

test("invitations from a sender who may no longer invite do not count toward the limit", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const admin = await scene.join("admin");
  await api.db.sql`
    insert into organization_invitations (org_id, email, role, invited_by)
    select ${org.id}, 'person' || n || '@example.com', 'viewer', ${admin.user.id}
    from generate_series(1, ${PENDING_INVITATIONS_MAX}) as n`;
  const path = `/orgs/${org.slug}/members/${admin.user.id}`;
  const demoted = await ask(api, path, { token: owner.token, method: "PATCH", body: { role: "viewer" } });
  expect(demoted.status).toBe(200);
  expect((await invite(scene, owner, "ann@example.com")).status).toBe(201);
});

test("a user can send at most fifty invitations an hour across all organizations", async () => {
  await using scene = await openOrgScene();
  const { api, org, owner } = scene;
  const elsewhere = await api.make.org();
  await api.make.member({ orgId: elsewhere.id, userId: owner.user.id, role: "owner" });
  await api.db.sql`
    insert into organization_invitations (org_id, email, role, invited_by, created_at)
    select ${elsewhere.id}, 'person' || n || '@example.com', 'viewer', ${owner.user.id}, now() - n * interval '1 minute'
    from generate_series(1, ${HOURLY_INVITATIONS_MAX - 1}) as n`;
  const first = await invite(scene, owner, "a@example.com");
  expect(first.status).toBe(201);
  const response = await api.request(`/api/v1/orgs/${org.slug}/invitations`, {
    method: "POST",
    key: owner.token,
    body: { email: "b@example.com", role: "viewer" },
  });
  expect(response.status).toBe(429);
  // The oldest of the fifty invitations is 49 minutes old, so the next invitation is allowed in about 11 minutes.
  expect(Number(response.headers.get("retry-after"))).toBeWithin(10 * 60, 12 * 60);
});

test("invalid bodies are refused before anything is written", async () => {
  await using scene = await openOrgScene();
  const { api, owner, org } = scene;
  const bodies = [
    {},
    { email: "ann@example.com" },
    { role: "viewer" },
    { email: "ann", role: "viewer" },
    { email: "a b@example.com", role: "viewer" },
    { email: "<ann@example.com", role: "viewer" },
    { email: "ann@example.com\r\nBcc: all@example.com", role: "viewer" },
    { email: `${"a".repeat(320)}@example.com`, role: "viewer" },
    { email: "a\u0000@example.com", role: "viewer" },
    { email: "ann@example.com", role: "boss" },
    { email: "ann@example.com", role: "viewer", name: "Ann" },
  ];
  for (const body of bodies) {
    const path = `/orgs/${org.slug}/invitations`;
    const { code } = await ask(api, path, { token: owner.token, method: "POST", body });
    expect([JSON.stringify(body), code]).toEqual([JSON.stringify(body), "VALIDATION_ERROR"]);
  }
  expect(await pending(scene)).toEqual([]);
  expect(await api.db.sql`select from account_mails`).toHaveLength(0);
});

test("a personal organization can invite guests, but not a second owner", async () => {
  await using scene = await openOrgScene();
  const { owner } = scene;
  const home = { ...scene, org: owner.personalOrg };
  expect((await invite(home, owner, "guest@example.com", "admin")).status).toBe(201);
  expect(await invite(home, owner, "guest@example.com", "owner")).toMatchObject({
    status: 400,
    error: { details: { reason: "personal_organization" } },
  });
});

test("a request repeated with its Idempotency-Key gets the same response and queues one mail", async () => {
  await using scene = await openOrgScene();
  const { api, owner, org } = scene;
  const send = () =>
    api.request(`/api/v1/orgs/${org.slug}/invitations`, {
      method: "POST",
      key: owner.token,
      headers: { "idempotency-key": "invite-ann" },
      body: { email: "ann@example.com", role: "viewer" },
    });
  const [first, second] = [await (await send()).text(), await (await send()).text()];
  expect(second).toBe(first);
  expect(await api.db.sql`select from account_mails`).toHaveLength(1);
});
