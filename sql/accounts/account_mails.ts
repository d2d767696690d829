/** Table `account_mails`: mails about accounts and organizations, and the links in them. The database's clock decides. */
import {
  ACCOUNT_MAILS,
  type AccountMailKind,
  type AccountMailPolicy,
} from "../../shared/account_mail_kinds.ts";
import { anyRow, columnList, firstRow, firstValue, fragment, onlyRow, type Sql } from "../connection/pool.ts";
import { type Boss, enqueueJob } from "../job_queue.ts";
import { lockTransaction } from "../locks.ts";

/** What a mail says and its link does, by kind. */
export type AccountMailDetails = Readonly<Record<string, string | number | boolean | null>>;

export interface NewAccountMail {
  kind: AccountMailKind;
  /** The recipient; need not have an account. */
  email: string;
  /** The account that the mail is about. Unset where the request must not reveal whether there is one. */
  userId?: string;
  orgId?: string;
  details?: AccountMailDetails;
  /** `network` of the request's context. */
  network?: string;
  traceparent?: string | undefined;
}

export interface AccountMailRow {
  id: string;
  kind: AccountMailKind;
  email: string;
  userId: string | null;
  orgId: string | null;
  details: AccountMailDetails;
  network: string | null;
  createdAt: string;
}

/** What counts for the hourly limit, and from when. A mail that was skipped may have been sent before, with a link. */
const COUNTS = fragment`not is_over_limit and (skipped_at is null or token_hash is not null)`;
const TURN = fragment`coalesce(due_at, created_at)`;
const COLUMNS = columnList("id, kind, email, user_id, org_id, details, network, created_at");

/**
 * Queues a mail, and ends the links that it replaces. Over the hourly limit, the mail waits if its kind may; otherwise it will not
 * be sent, but one with a link, which strangers can ask for, takes the same work. Returns the row's id. Call inside the
 * transaction of the change that the mail is about.
 */
export async function queueAccountMail(tx: Sql, boss: Boss, mail: NewAccountMail): Promise<string> {
  const { kind, email, userId = null } = mail;
  const policy: AccountMailPolicy = ACCOUNT_MAILS[kind];
  // Simultaneous requests count each other.
  await lockTransaction(tx, { name: "account_mail", id: email.toLowerCase() });
  const { id, isOverLimit } = await insertAccountMail(tx, mail, policy.hourlyMax);
  if (policy.replaces !== null) {
    const isSame = policy.replaces === "email" ? tx`lower(email) = lower(${email})` : tx`user_id = ${userId}`;
    // Over the limit it ends itself: the time of the response must not tell whether earlier mails were sent.
    const isEnded = isOverLimit ? tx`id = ${id}` : tx`kind = ${kind} and ${isSame} and id <> ${id}`;
    await tx`
      update account_mails
      set ended_at = clock_timestamp()
      where ${isEnded} and ended_at is null and used_at is null`;
  }
  const startAt = isOverLimit ? await awaitTurn(tx, { ...mail, id }) : null;
  if (isOverLimit && startAt === null && policy.link === null) return id;
  const payload = { accountMailId: id, traceparent: mail.traceparent };
  await enqueueJob(tx, boss, { id, name: "send_account_mail", payload, startAt });
  return id;
}

/** Queues mails in one order, because each takes a lock of its address. Returns their ids, in that order. */
export async function queueAccountMails(
  tx: Sql,
  boss: Boss,
  mails: readonly NewAccountMail[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const mail of mails.toSorted((a, b) => (a.email.toLowerCase() < b.email.toLowerCase() ? -1 : 1))) {
    ids.push(await queueAccountMail(tx, boss, mail));
  }
  return ids;
}

/** Returns the seconds until mails that are over the hourly limit would be sent; null if all of them will be sent. */
export async function findOverLimitWait(
  tx: Sql,
  { ids, hourlyMax }: { ids: readonly string[]; hourlyMax: number },
): Promise<number | null> {
  return firstValue(tx<{ seconds: number | null }[]>`
    select ceil(max(extract(epoch from last.created_at + interval '1 hour' - clock_timestamp())))::int as seconds
    from account_mails as mail
    cross join lateral (
      select created_at
      from account_mails
      where kind = mail.kind and ${COUNTS}
        and (lower(email) = lower(mail.email) or user_id = mail.user_id)
      order by created_at desc
      offset ${hourlyMax - 1}
      limit 1
    ) as last
    where mail.id = any(${[...ids]}::uuid[]) and mail.is_over_limit`);
}

async function insertAccountMail(
  sql: Sql,
  mail: NewAccountMail,
  hourlyMax: number | null,
): Promise<{ id: string; isOverLimit: boolean }> {
  const { kind, email, userId = null, orgId = null, details = {}, network = null } = mail;
  const isRecent = sql`
    kind = ${kind} and ${COUNTS} and ${TURN} > clock_timestamp() - interval '1 hour'`;
  return onlyRow(sql<[{ id: string; isOverLimit: boolean }]>`
    insert into account_mails (kind, email, user_id, org_id, details, network, is_over_limit)
    values (
      ${kind}, ${email}, ${userId}, ${orgId}, ${sql.json(details)}, ${network},
      coalesce(
        greatest(
          (select count(*) from account_mails where lower(email) = lower(${email}) and ${isRecent}),
          (select count(*) from account_mails where user_id = ${userId} and ${isRecent})
        ) >= ${hourlyMax}::int,
        false
      )
    )
    returning id, is_over_limit`);
}

interface OverLimitMail extends Pick<NewAccountMail, "kind" | "email" | "orgId"> {
  id: string;
}

/**
 * Lets a mail that is over the limit wait until the limit allows it, if its kind may. Returns when it will be sent; null if it
 * will not be. An organization has at most one waiting mail to an address, because its further invitations use that mail.
 */
async function awaitTurn(tx: Sql, mail: OverLimitMail): Promise<string | null> {
  const { maxWaitHours }: AccountMailPolicy = ACCOUNT_MAILS[mail.kind];
  if (maxWaitHours === undefined || (await keepInvitationLink(tx, mail.id))) return null;
  return (await takeFreeTurn(tx, mail, maxWaitHours)) ?? (await takeTurnOfYounger(tx, mail));
}

/**
 * Lets the last mail of the same organization that has a link, or will get one, lead to this invitation, which has replaced the
 * earlier one, for as long as a new link. Returns false if there is no such mail.
 */
async function keepInvitationLink(tx: Sql, mailId: string): Promise<boolean> {
  const { minutes } = ACCOUNT_MAILS.invitation.link;
  return anyRow(tx`
    update account_mails as last
    set details = mail.details, expires_at = clock_timestamp() + make_interval(mins => ${minutes})
    from account_mails as mail
    where mail.id = ${mailId}
      and last.id = (
        select id
        from account_mails
        where kind = mail.kind and lower(email) = lower(mail.email) and org_id = mail.org_id
          and not is_over_limit and skipped_at is null and used_at is null and ended_at is null
          and expires_at > clock_timestamp()
        order by ${TURN} desc, id
        limit 1
      )
    returning last.id`);
}

/** Takes the next turn that keeps to the limit. Returns null if that is too late. */
async function takeFreeTurn(
  tx: Sql,
  { id, kind, email }: OverLimitMail,
  maxWaitHours: number,
): Promise<string | null> {
  const { hourlyMax }: AccountMailPolicy = ACCOUNT_MAILS[kind];
  return firstValue(tx<{ dueAt: string }[]>`
    update account_mails as mail
    set is_over_limit = false, due_at = free.due_at
    from (
      select ${TURN} + interval '1 hour' as due_at
      from account_mails
      where kind = ${kind} and lower(email) = lower(${email}) and ${COUNTS}
      order by ${TURN} desc
      offset ${hourlyMax ?? 1} - 1
      limit 1
    ) as free
    where mail.id = ${id} and free.due_at <= clock_timestamp() + make_interval(hours => ${maxWaitHours})
    returning mail.due_at`);
}

/**
 * Takes the turn of the youngest organization, whose mail will not be sent. Returns null if no organization is younger.
 * Otherwise, anyone could take all turns with new organizations.
 */
async function takeTurnOfYounger(tx: Sql, mail: OverLimitMail): Promise<string | null> {
  const { id, kind, email, orgId = null } = mail;
  return firstValue(tx<{ dueAt: string }[]>`
    with turn as (
      update account_mails
      set is_over_limit = true
      where id = (
        select m.id
        from account_mails m
        join organizations o on o.id = m.org_id
        where m.kind = ${kind} and lower(m.email) = lower(${email}) and ${COUNTS}
          -- The job runner may have begun to send earlier ones.
          and m.due_at > clock_timestamp() + interval '1 minute'
          and o.created_at > (select created_at from organizations where id = ${orgId})
        order by o.created_at desc, m.due_at
        limit 1
      )
      returning due_at
    )
    update account_mails as later
    set is_over_limit = false, due_at = turn.due_at
    from turn
    where later.id = ${id}
    returning later.due_at`);
}

/**
 * Returns the milliseconds until a network, or an IPv6 /48 with all of its /64s, may ask for a mail that anyone can ask for; 0 if
 * it may now. Until the transaction ends, others of the network wait, so that simultaneous requests count each other.
 */
export async function findAccountMailWait(
  tx: Sql,
  { network, limit }: { network: string; limit: number },
): Promise<number> {
  await lockTransaction(tx, { name: "account_mail_network", id: network });
  const [row] = await tx<{ waitMs: number }[]>`
    select ceil(1000 * extract(epoch from created_at + interval '1 hour' - clock_timestamp()))::int as wait_ms
    from account_mails
    where network like ${network.replace("::/48", ":%")} and kind in ('sign_up', 'password_reset', 'email_change')
      and created_at > clock_timestamp() - interval '1 hour'
    order by created_at desc
    offset ${limit - 1}
    limit 1`;
  return Math.max(0, row?.waitMs ?? 0);
}

/**
 * Finds a mail that is still to be sent; null otherwise. It may wait for its first attempt until `expires_at`. After that, the
 * queue decides how often it is tried: each attempt makes another link, so one that has expired does not count.
 */
export async function findUnsentAccountMail(sql: Sql, id: string): Promise<AccountMailRow | null> {
  return firstRow(sql<AccountMailRow[]>`
    select ${sql(COLUMNS)}
    from account_mails
    where id = ${id}
      and sent_at is null
      and used_at is null
      and ended_at is null
      and not is_over_limit
      and skipped_at is null
      and (token_hash is not null or expires_at > clock_timestamp())`);
}

/**
 * Gives a mail its link, in place of that of an earlier attempt, and returns when it ends; null if the mail is no longer
 * wanted.
 */
export async function updateAccountMailLink(
  sql: Sql,
  link: { id: string; tokenHash: Buffer; minutes: number; userId: string | null },
): Promise<string | null> {
  return firstValue(sql<{ expiresAt: string }[]>`
    update account_mails
    set token_hash = ${link.tokenHash},
      expires_at = clock_timestamp() + make_interval(mins => ${link.minutes}),
      user_id = coalesce(${link.userId}, user_id)
    where id = ${link.id} and used_at is null and ended_at is null
    returning expires_at`);
}

/** Records that a mail server has accepted the mail. */
export async function markAccountMailSent(sql: Sql, id: string): Promise<void> {
  await sql`
    update account_mails
    set sent_at = clock_timestamp()
    where id = ${id} and sent_at is null`;
}

/**
 * Records that a mail will not be sent. False if it was sent, or if its details are others by now (`keepInvitationLink`); without
 * `details`, they do not matter.
 */
export async function markAccountMailSkipped(
  sql: Sql,
  { id, details }: { id: string; details?: AccountMailDetails | undefined },
): Promise<boolean> {
  return anyRow(sql`
    update account_mails
    set skipped_at = clock_timestamp()
    where id = ${id} and sent_at is null and ${details ? sql`details = ${sql.json(details)}` : sql`true`}
    returning id`);
}

/** What a person has from a link. */
export interface AccountLink {
  kind: AccountMailKind;
  tokenHash: Buffer;
}

/** Finds the mail of a link that works; null otherwise. Changes nothing. */
export async function findAccountLink(sql: Sql, link: AccountLink): Promise<AccountMailRow | null> {
  return firstRow(sql<AccountMailRow[]>`
    select ${sql(COLUMNS)}
    from account_mails
    where ${works(sql, link)}`);
}

/** Uses up a link; null if it does not work. Of two transactions that try at once, the second one gets null. */
export async function markAccountLinkUsed(sql: Sql, link: AccountLink): Promise<AccountMailRow | null> {
  return firstRow(sql<AccountMailRow[]>`
    update account_mails
    set used_at = clock_timestamp()
    where ${works(sql, link)}
    returning ${sql(COLUMNS)}`);
}

function works(sql: Sql, { kind, tokenHash }: AccountLink) {
  return sql`
    token_hash = ${tokenHash}
    and kind = ${kind}
    and used_at is null
    and ended_at is null
    and expires_at > clock_timestamp()`;
}

/** Forgets what a mail said, which may be the hash of a password. */
export async function deleteAccountMailDetails(sql: Sql, id: string): Promise<void> {
  await sql`
    update account_mails
    set details = '{}'
    where id = ${id}`;
}

/** Ends the links of a kind that a user has, and mails that would bring one: those to the user's address too. */
export async function endAccountLinks(
  sql: Sql,
  links: { kind: AccountMailKind; userId: string },
): Promise<void> {
  await sql`
    update account_mails
    set ended_at = clock_timestamp()
    where kind = ${links.kind}
      and used_at is null
      and ended_at is null
      and (
        user_id = ${links.userId}
        or lower(email) = (select lower(email) from users where id = ${links.userId})
      )`;
}
