/** Tests the mails to owners about the deletion of their organization. */
import { expect, test } from "bun:test";
import { deleteOrganizations } from "../../../jobs/delete_old_records.ts";
import { newestMail, queueMail } from "../../helpers/accounts/account_mail.ts";
import { runJson } from "../../helpers/accounts/admin.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openMailServer } from "../../helpers/network/mail_server.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";

const PUBLIC_URL = "https://ulr.example/tools";

async function openPlace() {
  const server = await openMailServer({});
  const api = await openTestApp({ config: { publicUrl: PUBLIC_URL, smtpUrl: server.url } });
  const runner = await openTestRunner(api);
  const owner = await api.make.person({ role: "owner" });
  const { token: key } = await api.make.session({ userId: owner.user.id });
  const { org } = owner;
  const change = async (method: string, path = "", body?: object): Promise<void> => {
    const options = { method, key, ...(body && { body }) };
    const response = await api.request(`/api/v1/orgs/${org.slug}${path}`, options);
    expect(response.status).toBe(200);
  };
  return {
    ...{ server, api, runner, owner, org },
    remove: () => change("DELETE", "", { confirm: org.slug }),
    restore: () => change("POST", "/restore"),
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("mails only active owners about a deletion, with the deleting user, the deadline and the restore link", async () => {
  await using place = await openPlace();
  const { api, org, owner, runner, server } = place;
  const other = await api.make.person({ org, role: "owner" });
  const disabled = await api.make.user({ disabledAt: "2026-01-01T00:00:00Z" });
  await api.make.member({ orgId: org.id, userId: disabled.id });
  await api.make.person({ org, role: "admin" });
  await place.remove();
  await place.remove();
  await runner.accountMails();
  const recipients = server.received.flatMap(({ to }) => to);
  expect(recipients.toSorted()).toEqual([owner.user.email, other.user.email].toSorted());
  const { headers, text, html } = await newestMail(server);
  expect(headers["subject"]).toBe(`${org.name} will be deleted`);
  for (const part of [text, html]) {
    expect(part).toContain(owner.user.username);
    expect(part).toMatch(/keeps working until \d+ \w+ \d{4} at [\d:]+ UTC/);
    expect(part).toContain(`${PUBLIC_URL}/orgs/${org.slug}/end`);
    expect(part).not.toContain("token");
  }
  expect(html).toContain('<meta name="color-scheme" content="light dark">');
});

test("mails owners about a restoration, a deletion by an operator, and the completed deletion", async () => {
  await using place = await openPlace();
  const { api, org, owner, runner, server } = place;
  await place.remove();
  await runner.accountMails();
  await place.restore();
  await runner.accountMails();
  await runJson(api.db.url, ["org", "delete", "--org", org.slug, "--confirm", org.slug]);
  await runner.accountMails();
  await api.db.sql`update organizations set deletes_at = now() - interval '1 second' where id = ${org.id}`;
  expect(await deleteOrganizations(api.deps, new AbortController().signal)).toBe(1);
  await runner.accountMails();
  const mails: { subject: string; text: string }[] = [];
  for (const mail of server.received) {
    const { headers, text, to } = await newestMail({ received: [mail] });
    expect(to).toEqual([owner.user.email]);
    mails.push({ subject: String(headers["subject"]), text });
  }
  const subjects = mails.map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual(
    [
      `${org.name} has been deleted`,
      `${org.name} will be deleted`,
      `${org.name} will be deleted`,
      `${org.name} will not be deleted`,
    ].toSorted(),
  );
  const byOperator = mails.find(({ text }) => text.includes("An operator deleted the organization"));
  expect(byOperator?.subject).toBe(`${org.name} will be deleted`);
  expect(mails.find(({ subject }) => subject.endsWith("has been deleted"))?.text).not.toContain("Restore");
});

test("sends only the queued notice that matches the organization's current state", async () => {
  await using place = await openPlace();
  const { org, runner, server } = place;
  await place.remove();
  await place.restore();
  await place.remove();
  await runner.accountMails();
  expect(server.received.length).toBe(1);
  expect((await newestMail(server)).headers["subject"]).toBe(`${org.name} will be deleted`);
  await place.remove();
  await place.restore();
  await runner.accountMails();
  expect(server.received.length).toBe(2);
  expect((await newestMail(server)).headers["subject"]).toBe(`${org.name} will not be deleted`);
});

test("refuses to delete an organization again if ten notices were queued for its owner within an hour", async () => {
  await using place = await openPlace();
  const { api, org, owner } = place;
  for (let round = 0; round < 5; round += 1) {
    await place.remove();
    await place.restore();
  }
  const { token: key } = await api.make.session({ userId: owner.user.id });
  const remove = () =>
    api.request(`/api/v1/orgs/${org.slug}`, { method: "DELETE", key, body: { confirm: org.slug } });
  await api.db.sql`
    update account_mails
    set created_at = clock_timestamp() - interval '50 minutes' - random() * interval '9 minutes'`;
  const refused = await remove();
  expect([refused.status, await refused.json()]).toMatchObject([
    429,
    { error: { code: "RATE_LIMITED", details: { limit: 10 } } },
  ]);
  expect(Number(refused.headers.get("retry-after"))).toBeWithin(30, 10 * 60 + 1);
  expect(await api.db.sql`select from organizations where deletes_at is not null`).toHaveLength(0);
  await place.runner.accountMails();
  // The deletion notices are skipped, because the organization was restored after each deletion.
  expect(place.server.received).toHaveLength(5);
  expect((await newestMail(place.server)).headers["subject"]).toBe(`${org.name} will not be deleted`);
  await api.db.sql`update account_mails set created_at = now() - interval '61 minutes'`;
  await place.remove();
});

test("restores an organization even if its owner has reached the notice limit", async () => {
  await using place = await openPlace();
  const { api, owner } = place;
  await place.remove();
  const { id: userId, email } = owner.user;
  for (let n = 0; n < 10; n += 1) await queueMail(api, { kind: "deletion_notice", email, userId });
  // The organization is already deleted. Deleting it again queues no notice, so the limit does not apply.
  await place.remove();
  await place.restore();
  expect(await api.db.sql`select from organizations where deletes_at is not null`).toHaveLength(0);
});

test("queues no mail if the deletion is rolled back", async () => {
  await using place = await openPlace();
  const { api, org, owner } = place;
  await api.db.owner`alter table audit_log add constraint no_entries_check check (false) not valid`;
  const { token: key } = await api.make.session({ userId: owner.user.id });
  const options = { method: "DELETE", key, body: { confirm: org.slug } };
  expect((await api.request(`/api/v1/orgs/${org.slug}`, options)).status).toBe(500);
  expect(await api.db.sql`select 1 from account_mails`).toHaveLength(0);
});
