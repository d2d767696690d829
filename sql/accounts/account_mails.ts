/** Table `account_mails`: mails about accounts and organizations, and their links. All times come from the database's clock. */
import {
  ACCOUNT_MAILS,
  type AccountMailKind,
  type AccountMailPolicy,
} from "../../shared/account_mail_kinds.ts";
import { anyRow, columnList, firstRow, firstValue, fragment, onlyRow, type Sql } from "../connection/pool.ts";
import { type Boss, enqueueJob } from "../job_queue.ts";
import { lockTransaction } from "../locks.ts";

/** The data for a mail's text and for the action of its link. The fields depend on the mail's kind. */
export type AccountMailDetails = Readonly<Record<string, string | number | boolean | null>>;

export interface NewAccountMail {
  kind: AccountMailKind;
  /** The recipient's address, which need not belong to an account. */
  email: string;
  /** The account that the mail is about. Unset where the request must not reveal whether the account exists. */
  userId?: string;
  orgId?: string;
  details?: AccountMailDetails;
  /** The client's network, from `network` in the request's context. */
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

/** The condition for mails that count toward the hourly limit. A skipped mail with a link counts: an attempt may have sent it. */
const COUNTS = fragment`not is_over_limit and (skipped_at is null or token_hash is not null)`;
const TURN = fragment`coalesce(due_at, created_at)`;
const COLUMNS = columnList("id, kind, email, user_id, org_id, details, network, created_at");

/**
 * Queues a mail, ends the links that it replaces, and returns the row's id. If the hourly limit is reached, the mail waits if its
 * kind allows waiting. Otherwise, it is not sent, and earlier links stay valid. Anyone can request a mail with a link, and the
 * response time must not reveal whether it is sent. Such a mail therefore takes the same work in both cases. Call inside the
 * transaction of the change that the mail is about.
 */
export async function queueAccountMail(tx: Sql, boss: Boss, mail: NewAccountMail): Promise<string> {
  const { kind, email, userId = null } = mail;
  const policy: AccountMailPolicy = ACCOUNT_MAILS[kind];
  // The lock makes simultaneous requests count each other's mails.
  await lockTransaction(tx, { name: "account_mail", id: email.toLowerCase() });
  const { id, isOverLimit } = await insertAccountMail(tx, mail, policy.hourlyMax);
  if (policy.replaces !== null) {
    const isSame = policy.replaces === "email" ? tx`lower(email) = lower(${email})` : tx`user_id = ${userId}`;
    // Over the limit, ends the new mail instead, so that the response time does not reveal whether earlier mails were sent.
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

/**
 * Queues mails in the order of their addresses and returns their ids in that order. Each mail locks its address, so the fixed order
 * prevents deadlocks.
 */
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

/** Returns the seconds until the hourly limit allows all of these mails; null if none of them is over the limit. */
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
 * Handles a mail over the limit, if its kind allows waiting: reuses an earlier mail, or else schedules this one, or else takes over
 * the send time of a younger organization. Returns the send time; null if this mail will not be sent. An organization has at most
 * one waiting mail per address, because later invitations reuse it.
 */
async function awaitTurn(tx: Sql, mail: OverLimitMail): Promise<string | null> {
  const { maxWaitHours }: AccountMailPolicy = ACCOUNT_MAILS[mail.kind];
  if (maxWaitHours === undefined || (await keepInvitationLink(tx, mail.id))) return null;
  return (await takeFreeTurn(tx, mail, maxWaitHours)) ?? (await takeTurnOfYounger(tx, mail));
}

/**
 * Points the organization's last mail to the address at the new invitation and restarts the lifetime of its link. Returns false if
 * there is no such mail with a link that is valid or still to be created.
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

/** Schedules a mail for the earliest time within the limit and returns that time; null if it is more than `maxWaitHours` away. */
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
 * Takes over the send time of a waiting mail from the youngest organization, and returns that time. The other mail is then not
 * sent. Returns null if no organization with a waiting mail is younger. Without this rule, anyone could take all send times by
 * creating organizations.
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
          -- The job runner may already be sending mails that are due earlier.
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
 * Returns the milliseconds until a network may request another mail of the kinds that anyone can request; 0 if it may now. If
 * `network` is an IPv6 /48, the mails of all its /64s count. Other requests of the network wait until the transaction ends, so that
 * simultaneous requests count each other.
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
 * Finds a mail if it is still to be sent; null otherwise. The first attempt must start before `expires_at`. Once a mail has a link,
 * only the queue limits its attempts, because each attempt creates a new link.
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
 * Sets the link of a mail and returns the link's expiry. The link replaces that of an earlier attempt. Returns null if the mail's
 * link was used or ended meanwhile.
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
 * Records that a mail will not be sent. Returns false if the mail was sent, or if its stored details differ from `details`
 * (`keepInvitationLink` may have replaced them). Without `details`, skips this comparison.
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

/** Identifies a link by its kind and the hash of its token. */
export interface AccountLink {
  kind: AccountMailKind;
  tokenHash: Buffer;
}

/** Finds the mail of a valid link; null if the link is not valid. Does not use up the link. */
export async function findAccountLink(sql: Sql, link: AccountLink): Promise<AccountMailRow | null> {
  return firstRow(sql<AccountMailRow[]>`
    select ${sql(COLUMNS)}
    from account_mails
    where ${works(sql, link)}`);
}

/** Uses up a link and returns its mail; null if the link is not valid. A second concurrent transaction waits and gets null. */
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

/** Clears the details of a mail, which may contain a password hash. */
export async function deleteAccountMailDetails(sql: Sql, id: string): Promise<void> {
  await sql`
    update account_mails
    set details = '{}'
    where id = ${id}`;
}

/** Ends the links of a kind that belong to a user or were mailed to the user's address. Unsent mails then create no link. */
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
