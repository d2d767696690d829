/** Tests stored account mails: limits, expired links, and concurrent use of a link. */
import { expect, test } from "bun:test";
import { mintLinkToken } from "../../../shared/account_mail_kinds.ts";
import {
  endAccountLinks,
  findAccountLink,
  findUnsentAccountMail,
  markAccountLinkUsed,
  markAccountMailSkipped,
  updateAccountMailLink,
} from "../../../sql/accounts/account_mails.ts";
import { deleteOldRows, OLD_ROWS } from "../../../sql/delete_old_rows.ts";
import { queueMail } from "../../helpers/accounts/account_mail.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";

const KIND = "password_reset";

async function countWanted({ db }: TestApp): Promise<number> {
  const [row] = await db.sql<[{ count: number }]>`
    select count(*)::int from account_mails where not is_over_limit`;
  return row.count;
}

/** Queues a password reset and gives it a valid link. Returns the mail's id and the link. */
async function makeLink(app: TestApp, user: { id: string; email: string }) {
  const id = await queueMail(app, { kind: KIND, email: user.email });
  const { tokenHash } = mintLinkToken();
  await updateAccountMailLink(app.deps.sql, { id, tokenHash, minutes: 60, userId: user.id });
  return { id, link: { kind: KIND, tokenHash } as const };
}

test("limits an address to three mails of a kind per hour, even for concurrent requests", async () => {
  await using app = await openTestApp();
  const spellings = ["a@example.com", "A@example.com", "a@EXAMPLE.com"];
  await Promise.all(
    Array.from({ length: 9 }, async (_, index) =>
      queueMail(app, { kind: KIND, email: spellings[index % 3] ?? "" }),
    ),
  );
  expect(await countWanted(app)).toBe(3);
  await queueMail(app, { kind: KIND, email: "b@example.com" });
  expect(await countWanted(app)).toBe(4);
  // The hour counts from the mails that were sent. Mails over the limit do not extend it.
  await app.db
    .sql`update account_mails set created_at = now() - interval '61 minutes' where not is_over_limit`;
  await queueMail(app, { kind: KIND, email: "a@example.com" });
  expect(await countWanted(app)).toBe(5);
});

test("does not queue notices over the limit", async () => {
  await using app = await openTestApp();
  const { id: userId, email } = await app.make.user();
  for (const [kind, count] of [["factor_notice", 12] as const, [KIND, 4] as const]) {
    for (let index = 0; index < count; index += 1) await queueMail(app, { kind, email, userId });
  }
  const queued = await app.db.sql`
    select m.kind, count(*)::int
    from account_mails m join pgboss.job j on j.id = m.id
    group by m.kind
    order by m.kind`;
  // The fourth password reset is over its limit. Its job is queued nevertheless, so that the response time does not reveal the
  // limit.
  const counts = queued.map(({ kind, count }) => [kind, count]);
  expect(counts).toEqual([
    ["factor_notice", 10],
    [KIND, 4],
  ]);
});

test("limits a user's mails across all addresses", async () => {
  await using app = await openTestApp();
  const { id: userId } = await app.make.user();
  for (let count = 0; count < 5; count += 1) {
    await queueMail(app, { kind: KIND, email: `${count}@example.com`, userId });
  }
  expect(await countWanted(app)).toBe(3);
});

test("revokes older links on each request within the limit, and keeps the last link on a request over the limit", async () => {
  await using app = await openTestApp();
  const user = await app.make.user();
  const links = [await makeLink(app, user), await makeLink(app, user), await makeLink(app, user)];
  const over = await queueMail(app, { kind: KIND, email: user.email });
  const found = await Promise.all(links.map(async ({ link }) => findAccountLink(app.deps.sql, link)));
  expect(found.map((row) => row?.id ?? null)).toEqual([null, null, links[2]?.id ?? ""]);
  expect(await findUnsentAccountMail(app.deps.sql, over)).toBeNull();
});

/**
 * Queues an invitation mail from an organization. Returns the mail's id, the invitation's id, whether the mail is over the limit,
 * and the minutes until the mail is due.
 */
async function invite(app: TestApp, orgId: string) {
  const details = { invitationId: crypto.randomUUID() };
  const id = await queueMail(app, { kind: "invitation", email: "ann@example.com", orgId, details });
  const [row] = await app.db.sql<[{ isOverLimit: boolean; minutes: number }]>`
    select m.is_over_limit, round(extract(epoch from j.start_after - now()) / 60)::int as minutes
    from account_mails m join pgboss.job j on j.id = m.id
    where m.id = ${id}`;
  return { id, ...details, ...row };
}

test("spreads invitations over the limit across six hours, three per hour and one per organization", async () => {
  await using app = await openTestApp();
  const orgs = await Promise.all(Array.from({ length: 23 }, () => app.make.org({ createdAt: "2026-01-01" })));
  const ids = orgs.map(({ id }) => id);
  const waits: number[] = [];
  for (const id of ids.slice(0, 21)) waits.push((await invite(app, id)).minutes);
  expect(waits).toEqual([0, 1, 2, 3, 4, 5, 6].flatMap((hour) => Array(3).fill(hour * 60)));
  const [first = "", , , waiting = "", late = "", later = ""] = [...ids.slice(0, 4), ...ids.slice(21)];
  // A second invitation from an organization to the same address sends no mail. The link of the earlier mail now opens the second
  // invitation.
  for (const orgId of [first, waiting]) {
    const { id, invitationId, isOverLimit } = await invite(app, orgId);
    expect(isOverLimit).toBe(true);
    const rows = await app.db.sql`
      select details from account_mails where org_id = ${orgId} and id <> ${id}`;
    expect([...rows]).toEqual([{ details: { invitationId } }]);
  }
  expect((await invite(app, late)).isOverLimit).toBe(true);
  // An invitation from an older organization replaces the waiting invitation from the newest organization.
  await app.db.sql`update organizations set created_at = '2026-01-02' where id = ${waiting}`;
  await app.db.sql`update organizations set created_at = '2025-01-01' where id = ${later}`;
  const { id, minutes } = await invite(app, later);
  expect([minutes, (await findUnsentAccountMail(app.deps.sql, id))?.orgId]).toEqual([60, later]);
  const rows = await app.db.sql`select id from account_mails where org_id = ${waiting} and not is_over_limit`;
  expect(rows).toHaveLength(0);
});

test("extends an earlier mail's link to seven days if an invitation over the limit reuses the link", async () => {
  await using app = await openTestApp();
  const { id: orgId } = await app.make.org();
  let mailId = "";
  for (let count = 0; count < 3; count += 1) mailId = (await invite(app, orgId)).id;
  const { tokenHash } = mintLinkToken();
  await updateAccountMailLink(app.deps.sql, { id: mailId, tokenHash, minutes: 1, userId: null });
  const { invitationId } = await invite(app, orgId);
  const link = { kind: "invitation", tokenHash } as const;
  expect((await findAccountLink(app.deps.sql, link))?.details).toEqual({ invitationId });
  const [row] = await app.db.sql`
    select ceil(extract(epoch from expires_at - now()) / 86400)::int as days
    from account_mails where id = ${mailId}`;
  expect(row).toEqual({ days: 7 });
});

test("does not count mails that the job runner skipped toward the limit", async () => {
  await using app = await openTestApp();
  const mail = { kind: "sign_up", email: "ann@example.com" } as const;
  for (let count = 0; count < 3; count += 1) {
    const id = await queueMail(app, mail);
    expect(await markAccountMailSkipped(app.deps.sql, { id, details: { isAdmitted: true } })).toBe(false);
    expect(await markAccountMailSkipped(app.deps.sql, { id, details: {} })).toBe(true);
    expect(await findUnsentAccountMail(app.deps.sql, id)).toBeNull();
  }
  for (const isSent of [true, true, true, false]) {
    const id = await queueMail(app, mail);
    expect((await findUnsentAccountMail(app.deps.sql, id)) !== null).toBe(isSent);
  }
});

test("lets only one of several concurrent requests use a link", async () => {
  await using app = await openTestApp();
  const { link } = await makeLink(app, await app.make.user());
  const used = await Promise.all(
    Array.from({ length: 4 }, async () => app.deps.sql.begin((tx) => markAccountLinkUsed(tx, link))),
  );
  expect(used.filter((row) => row !== null)).toHaveLength(1);
  expect(await findAccountLink(app.deps.sql, link)).toBeNull();
});

test("keeps a link valid if its use is rolled back", async () => {
  await using app = await openTestApp();
  const { link } = await makeLink(app, await app.make.user());
  const use = app.deps.sql.begin(async (tx) => {
    await markAccountLinkUsed(tx, link);
    throw new Error("The change failed");
  });
  await expect(use).rejects.toThrow("The change failed");
  expect(await markAccountLinkUsed(app.deps.sql, link)).not.toBeNull();
});

test("accepts a link only for its kind of mail, and only until the link expires by the database's clock", async () => {
  await using app = await openTestApp();
  const { link } = await makeLink(app, await app.make.user());
  await app.db.sql`update account_mails set kind = 'another_kind'`;
  expect(await findAccountLink(app.deps.sql, link)).toBeNull();
  await app.db.sql`update account_mails set kind = ${KIND}, expires_at = now() - interval '1 second'`;
  expect(await markAccountLinkUsed(app.deps.sql, link)).toBeNull();
  expect(await findAccountLink(app.deps.sql, link)).toBeNull();
});

test("revokes a user's unsent links together with the sent links", async () => {
  await using app = await openTestApp();
  const user = await app.make.user();
  const { link } = await makeLink(app, user);
  const unsent = await queueMail(app, { kind: KIND, email: user.email.toUpperCase() });
  const others = await queueMail(app, { kind: KIND, email: "other@example.com" });
  await endAccountLinks(app.deps.sql, { kind: KIND, userId: user.id });
  expect(await findAccountLink(app.deps.sql, link)).toBeNull();
  expect(await findUnsentAccountMail(app.deps.sql, unsent)).toBeNull();
  expect(await findUnsentAccountMail(app.deps.sql, others)).not.toBeNull();
});

test("deletes mails once their link and rate limit have expired, and when their user is deleted", async () => {
  await using app = await openTestApp();
  const { link, id } = await makeLink(app, await app.make.user());
  expect(await deleteOldRows(app.deps.sql, { ...OLD_ROWS.accountMails, limit: 10 })).toBe(0);
  expect(await findAccountLink(app.deps.sql, link)).not.toBeNull();
  await app.db.sql`update account_mails set expires_at = now() - interval '61 minutes'`;
  expect(await deleteOldRows(app.deps.sql, { ...OLD_ROWS.accountMails, limit: 10 })).toBe(1);
  const user = await app.make.user();
  await makeLink(app, user);
  await app.db.owner`delete from users where id = ${user.id}`;
  expect(await app.db.sql`select id from account_mails where id <> ${id}`).toHaveLength(0);
});
