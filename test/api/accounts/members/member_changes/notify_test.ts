/** Tests mails about membership changes, sent to a test mail server over SMTP. */
import { expect, test } from "bun:test";
import type { OrgRole } from "../../../../../shared/vocabulary.ts";
import { newestMail } from "../../../../helpers/accounts/account_mail.ts";
import { runJson } from "../../../../helpers/accounts/admin.ts";
import {
  ask,
  type OrgScene,
  openOrgScene,
  type SignedInPerson,
} from "../../../../helpers/accounts/organization.ts";
import type { TestAppOptions } from "../../../../helpers/http/app.ts";
import { openMailServer, parseMail } from "../../../../helpers/network/mail_server.ts";
import { openTestRunner } from "../../../../helpers/process/job_runner.ts";

const PUBLIC_URL = "https://ulr.example";

async function openMailScene(config: TestAppOptions["config"] = {}) {
  const server = await openMailServer();
  const scene = await openOrgScene({ config: { publicUrl: PUBLIC_URL, smtpUrl: server.url, ...config } });
  const runner = await openTestRunner(scene.api);
  /** Sends the queued mails. Returns the last new mail of each recipient. */
  const deliver = async () => {
    const before = server.received.length;
    await runner.accountMails();
    const mails = await Promise.all(
      server.received
        .slice(before)
        .map(async ({ to, content }) => [String(to), await parseMail(content)] as const),
    );
    return new Map(mails);
  };
  return {
    ...scene,
    server,
    deliver,
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]();
      await scene[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function invite(scene: OrgScene, email: string, role: OrgRole, by = scene.owner) {
  const path = `/orgs/${scene.org.slug}/invitations`;
  return ask(scene.api, path, { token: by.token, method: "POST", body: { email, role } });
}

function change(scene: OrgScene, by: SignedInPerson, target: SignedInPerson, role: OrgRole | null) {
  const path = `/orgs/${scene.org.slug}/members/${target.user.id}`;
  const method = role === null ? "DELETE" : "PATCH";
  return ask(scene.api, path, { token: by.token, method, ...(role === null ? {} : { body: { role } }) });
}

test("the invitation mail names the sender, organization, role and expiry, and its link works", async () => {
  await using scene = await openMailScene();
  const { org, owner, server } = scene;
  await scene.api.db.sql`update organizations set name = 'evil.example/pay <b>Acme</b>' where id = ${org.id}`;
  const account = await scene.api.make.person();
  await invite(scene, account.user.email.toUpperCase(), "publisher");
  await scene.deliver();
  const mail = await newestMail(server);
  expect(String(mail.to).toLowerCase()).toBe(account.user.email);
  expect(mail.headers["subject"]).toStartWith(`${owner.user.username} invites you to evil`);
  expect(mail.link).toStartWith(`${PUBLIC_URL}/invitation?token=`);
  for (const part of [mail.text, mail.html]) {
    expect(part).toContain(owner.user.username);
    expect(part).toContain(org.slug);
    expect(part).toContain(account.user.email);
    expect(part).toMatch(/Role.*publisher/);
    expect(part).toMatch(/Expires.* UTC/);
    // Mail clients would turn a domain in a stranger's organization name into a link.
    expect(part).not.toContain("evil.example");
  }
  expect(mail.html).not.toContain("<b>Acme");
  const { token } = await scene.api.make.session({ userId: account.user.id });
  const body = { token: mail.token };
  const joined = await ask(scene.api, "/invitations/accept", { token, method: "POST", body });
  expect(joined).toMatchObject({ status: 200, data: { role: "publisher" } });
});

test("the invitation mail offers sign-up unless only operators can create accounts", async () => {
  for (const [signUp, offer] of [
    ["invited", "You can sign in or sign up when you open it."],
    ["off", "Sign in when you open it. If you have no account, ask an operator of this service for one."],
  ] as const) {
    await using scene = await openMailScene({ signUp });
    await invite(scene, "ann@example.com", "viewer");
    await scene.deliver();
    expect((await newestMail(scene.server)).text.replace(/\s+/g, " ")).toContain(offer);
  }
});

test("a username or slug that looks like a domain does not become a link in the invitation mail", async () => {
  await using scene = await openMailScene();
  const { sql } = scene.api.db;
  await sql`update users set username = 'pay.evil.example' where id = ${scene.owner.user.id}`;
  await sql`update organizations set slug = 'org.evil.example' where id = ${scene.org.id}`;
  const body = { email: "ann@example.com", role: "viewer" };
  await ask(scene.api, "/orgs/org.evil.example/invitations", {
    token: scene.owner.token,
    method: "POST",
    body,
  });
  await scene.deliver();
  const { text, html, headers } = await newestMail(scene.server);
  for (const part of [text, html, headers["subject"]]) expect(part).not.toContain("evil.example");
});

test("the invitation mail is the same whether or not the address has an account", async () => {
  await using scene = await openMailScene();
  const { api, org, server } = scene;
  const account = await api.make.user();
  const member = await scene.join("viewer");
  const seen = new Set<string>();
  for (const email of ["nobody@example.com", account.email, member.user.email]) {
    await invite(scene, email, "viewer");
    await scene.deliver();
    const { text, token } = await newestMail(server);
    seen.add(
      text
        .replaceAll(email, "ADDRESS")
        .replaceAll(token ?? "", "TOKEN")
        .replace(/Expires:.*/, ""),
    );
  }
  expect([...seen]).toHaveLength(1);
  expect([...seen][0]).toContain(org.slug);
});

test("a mailbox gets at most three invitations an hour from all organizations", async () => {
  await using scene = await openMailScene();
  const { api, server } = scene;
  for (const slug of ["one", "two", "three", "four"]) {
    const org = await api.make.org({ slug });
    await api.make.member({ orgId: org.id, userId: scene.owner.user.id });
    expect((await invite({ ...scene, org }, "Victim@example.com", "viewer")).status).toBe(201);
  }
  for (let round = 0; round < 3; round += 1) await invite(scene, "victim@EXAMPLE.com", "viewer");
  // The limit delays the mails of two organizations by an hour. The test cancels their jobs, because its runner ignores start
  // times.
  const later = await api.db.sql`
    update pgboss.job set state = 'cancelled' where start_after > now() + interval '59 minutes' returning id`;
  expect(later).toHaveLength(2);
  await scene.deliver();
  expect(server.received).toHaveLength(3);
});

test("an invitation that is revoked before its mail is sent is not mailed", async () => {
  await using scene = await openMailScene();
  const { api, org, owner } = scene;
  const { data } = await invite(scene, "ann@example.com", "viewer");
  const { id } = (data?.["invitation"] ?? {}) as { id: string };
  await ask(api, `/orgs/${org.slug}/invitations/${id}`, { token: owner.token, method: "DELETE" });
  expect((await scene.deliver()).size).toBe(0);
});

test("inviting someone again sends a new link and invalidates the older link", async () => {
  await using scene = await openMailScene();
  const { api, server } = scene;
  const tokens: (string | null)[] = [];
  for (const role of ["viewer", "publisher"] as const) {
    await invite(scene, "ann@example.com", role);
    await scene.deliver();
    tokens.push((await newestMail(server)).token);
  }
  const read = (token: string | null | undefined) =>
    ask(api, "/invitations/preview", { method: "POST", body: { token } });
  expect((await read(tokens[0])).status).toBe(400);
  expect(await read(tokens[1])).toMatchObject({ status: 200, data: { role: "publisher" } });
});

test("owners are notified of changes to owners and admins, and members of changes to their own role", async () => {
  await using scene = await openMailScene();
  const { org, owner } = scene;
  const [other, ann] = [await scene.join("owner"), await scene.join("viewer")];
  const { username } = ann.user;

  await change(scene, owner, ann, "publisher");
  const first = await scene.deliver();
  expect([...first.keys()]).toEqual([ann.user.email]);
  expect(first.get(ann.user.email)?.headers["subject"]).toBe(`Your role in ${org.name} is now publisher`);

  await change(scene, owner, ann, "admin");
  const second = await scene.deliver();
  const everyone = new Set([ann.user.email, other.user.email, owner.user.email]);
  expect(new Set(second.keys())).toEqual(everyone);
  const notice = second.get(other.user.email);
  expect(notice?.headers["subject"]).toBe(`${username} is now admin of ${org.name}`);
  for (const part of [notice?.text, notice?.html]) {
    expect(part).toContain(`${PUBLIC_URL}/orgs/${org.slug}/members`);
    expect(part).toMatch(new RegExp(`Done by.*${owner.user.username}`));
    expect(part).toMatch(/Old role.*publisher/);
  }

  await change(scene, owner, ann, null);
  const third = await scene.deliver();
  expect(third.get(ann.user.email)?.headers["subject"]).toBe(`You are no longer a member of ${org.name}`);
  expect(third.get(other.user.email)?.headers["subject"]).toBe(
    `${username} is no longer admin of ${org.name}`,
  );
  expect(new Set(third.keys())).toEqual(everyone);

  await change(scene, other, other, null);
  const fourth = await scene.deliver();
  expect([...fourth.keys()]).toEqual([owner.user.email]);
  expect(fourth.get(owner.user.email)?.text).toContain("has left the organization");
});

test("owners are notified when an admin joins by invitation and when an operator changes a role", async () => {
  await using scene = await openMailScene();
  const { api, org, owner, server } = scene;
  const ann = await api.make.person();
  await invite(scene, ann.user.email, "admin");
  await scene.deliver();
  const { token } = await newestMail(server);
  const session = await api.make.session({ userId: ann.user.id });
  await ask(api, "/invitations/accept", { token: session.token, method: "POST", body: { token } });
  const joined = (await scene.deliver()).get(owner.user.email);
  expect(joined?.headers["subject"]).toBe(`${ann.user.username} joined as admin: ${org.name}`);
  expect(joined?.text).toMatch(new RegExp(`Invited by: +${owner.user.username}`));

  const words = ["member", "add", "--org", org.slug, "--user", ann.user.username, "--role", "owner"];
  await runJson(api.db.url, words);
  const mails = await scene.deliver();
  expect(new Set(mails.keys())).toEqual(new Set([owner.user.email, ann.user.email]));
  expect(mails.get(owner.user.email)?.text).toContain("An operator of this service");
});

test("disabled owners get no mail, and each mailbox gets at most ten mails an hour", async () => {
  await using scene = await openMailScene();
  const { api, owner, server } = scene;
  const disabled = await scene.join("owner");
  await api.db.sql`update users set disabled_at = now() where id = ${disabled.user.id}`;
  const [admin, ann] = [await scene.join("admin"), await scene.join("viewer")];
  for (let round = 0; round < 8; round += 1) {
    await change(scene, admin, ann, "admin");
    await change(scene, admin, ann, "viewer");
  }
  await scene.deliver();
  const counts = Map.groupBy(server.received, ({ to }) => String(to));
  expect(counts.get(owner.user.email)).toHaveLength(10);
  // Five of Ann's ten mails are skipped. They report the role admin, which she no longer has.
  expect(counts.get(ann.user.email)).toHaveLength(5);
  expect(counts.size).toBe(2);
});

test("a removed member gets a mail despite many role changes within the hour", async () => {
  await using scene = await openMailScene();
  const { org, owner } = scene;
  const ann = await scene.join("viewer");
  for (let round = 0; round < 5; round += 1) {
    await change(scene, owner, ann, "publisher");
    await change(scene, owner, ann, "viewer");
  }
  await change(scene, owner, ann, null);
  const mails = await scene.deliver();
  expect(mails.get(ann.user.email)?.headers["subject"]).toBe(`You are no longer a member of ${org.name}`);
});

test("notices go to current email addresses, and only to enabled users who are still owners or members", async () => {
  await using scene = await openMailScene();
  const { api, owner } = scene;
  const { sql } = api.db;
  const [ann, moved, demoted, gone, disabled] = [
    await scene.join("viewer"),
    await scene.join("owner"),
    await scene.join("owner"),
    await scene.join("owner"),
    await scene.join("owner"),
  ];
  await change(scene, owner, ann, "admin");
  await sql`update users set email = 'new@example.com' where id = ${moved.user.id}`;
  await sql`update organization_members set role = 'viewer' where user_id = ${demoted.user.id}`;
  await sql`delete from organization_members where user_id in (${gone.user.id}, ${ann.user.id})`;
  await sql`update users set disabled_at = now() where id = ${disabled.user.id}`;
  expect([...(await scene.deliver()).keys()].sort()).toEqual([owner.user.email, "new@example.com"].sort());
});

test("a removed member is notified at their current address unless their account is disabled", async () => {
  await using scene = await openMailScene();
  const { api, owner } = scene;
  const [ann, bob] = [await scene.join("viewer"), await scene.join("viewer")];
  for (const member of [ann, bob]) await change(scene, owner, member, null);
  await api.db.sql`update users set email = 'ann@new.example' where id = ${ann.user.id}`;
  await api.db.sql`update users set disabled_at = now() where id = ${bob.user.id}`;
  expect([...(await scene.deliver()).keys()]).toEqual(["ann@new.example"]);
});

test("concurrent member changes in two organizations with the same owners cause no deadlock", async () => {
  await using scene = await openMailScene();
  const { api, owner, server } = scene;
  // The service lists owners in the order in which they joined. That order differs between the two organizations. Queueing mails in
  // that order would lock the addresses in different orders and could deadlock.
  const [other, actor] = [await scene.join("owner"), await scene.join("owner")];
  const second = await api.make.org();
  for (const { user } of [other, owner, actor]) await api.make.member({ orgId: second.id, userId: user.id });
  const members = [await scene.join("viewer"), await api.make.person({ org: second, role: "viewer" })];
  const [ann, bob] = await Promise.all(
    members.map(async (person) => ({ ...person, ...(await api.make.session({ userId: person.user.id })) })),
  );
  if (!ann || !bob) throw new Error("Cannot change members: two are needed");
  for (let round = 0; round < 20; round += 1) {
    const role = round % 2 === 0 ? "admin" : "viewer";
    const responses = await Promise.all([
      change(scene, actor, ann, role),
      change({ ...scene, org: second }, actor, bob, role),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  }
  await scene.deliver();
  expect(server.received.length).toBeGreaterThan(0);
});
