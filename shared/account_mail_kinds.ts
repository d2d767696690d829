/** Mails about accounts and organizations: their kinds, their limits, and the tokens of their links. */
import { createHash, randomBytes } from "node:crypto";

export interface AccountMailPolicy {
  /**
   * The page that the link opens, and the minutes for which the link works after the mail is sent. Null for a mail without a
   * link.
   */
  link: { page: string; minutes: number } | null;
  /** A new mail invalidates the links of older mails of its kind, either to the same address or to the same user. */
  replaces: "email" | "user" | null;
  /** The maximum number of mails per hour to one address and about one user; null for no limit. Further mails are not sent. */
  hourlyMax: number | null;
  /** How long a mail over the limit may wait before it is sent. If unset, such a mail is not sent. */
  maxWaitHours?: number;
}

const HOURLY_MAX = 3;
/** Notices have a higher limit, because they report actions of other people. */
const HOURLY_NOTICES_MAX = 10;

/** The policy of each kind of mail. jobs/account_mail/write_account_mail.ts has a function for each kind, which writes the mail. */
export const ACCOUNT_MAILS = {
  sign_up: { link: { page: "/sign-up/confirm", minutes: 24 * 60 }, replaces: "email", hourlyMax: HOURLY_MAX },
  password_reset: {
    link: { page: "/reset-password", minutes: 60 },
    replaces: "email",
    hourlyMax: HOURLY_MAX,
  },
  email_change: {
    link: { page: "/confirm-email", minutes: 24 * 60 },
    replaces: "user",
    hourlyMax: HOURLY_MAX,
  },
  /** Sent to the old address when a change is requested, and when the change has taken effect. */
  email_change_requested: { link: null, replaces: null, hourlyMax: HOURLY_MAX },
  email_changed: { link: null, replaces: null, hourlyMax: null },
  // A new invitation to the same organization revokes the older invitation, and so invalidates its link. Anyone can invite, so a
  // stranger's invitations must not suppress the invitations of other people.
  invitation: {
    link: { page: "/invitation", minutes: 7 * 24 * 60 },
    replaces: null,
    hourlyMax: HOURLY_MAX,
    maxWaitHours: 6,
  },
  /** Sent to owners after a change of owners or admins. */
  organization_notice: { link: null, replaces: null, hourlyMax: HOURLY_NOTICES_MAX },
  /** Sent to owners when the deletion of the organization is scheduled, canceled or done. */
  deletion_notice: { link: null, replaces: null, hourlyMax: HOURLY_NOTICES_MAX },
  /** Sent to a member whose role has changed. */
  membership_notice: { link: null, replaces: null, hourlyMax: HOURLY_NOTICES_MAX },
  /** Sent to a removed member. Earlier notices of role changes must not suppress it. */
  removal_notice: { link: null, replaces: null, hourlyMax: null },
  /** Sent to a user after a change of their second factors, or after attempts to use one. */
  factor_notice: { link: null, replaces: null, hourlyMax: HOURLY_NOTICES_MAX },
} as const satisfies Readonly<Record<string, AccountMailPolicy>>;

export type AccountMailKind = keyof typeof ACCOUNT_MAILS;

/** Creates the secret of a link: 32 random bytes. Only the mail contains the secret. */
export function mintLinkToken(): { token: string; tokenHash: Buffer } {
  const token = randomBytes(32).toString("base64url");
  return { token, tokenHash: hashLinkToken(token) };
}

/** Returns the hash under which a token is stored and looked up. A fast hash is sufficient, because tokens have 256 bits. */
export function hashLinkToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Events of second factors about which users get a mail. */
export type FactorNotice =
  | { event: "added"; name: string }
  /** `isLast` is true if signing in now requires only the password. */
  | { event: "removed"; name: string; isLast: boolean }
  /** An operator removed all second factors of the user. */
  | { event: "reset" }
  | { event: "codes_renewed" }
  | { event: "code_used"; codesLeft: number }
  /** A person who knows the password or uses a session entered wrong codes. */
  | { event: "guessed" }
  /** A copy of a passkey was used. */
  | { event: "copied" };
