/** Mails about accounts and organizations: their kinds, their limits, and the tokens of their links. */
import { createHash, randomBytes } from "node:crypto";

export interface AccountMailPolicy {
  /** The page that the link opens, and for how long the link works once the mail is sent; null for a mail without one. */
  link: { page: string; minutes: number } | null;
  /** A new mail ends the links of older ones of its kind: those to the same address, or those of the same user. */
  replaces: "email" | "user" | null;
  /** Mails an hour to one address, and about one user; others are not sent. Null: no limit. */
  hourlyMax: number | null;
  /** How long a mail over the limit may wait until the limit allows it. Unset: it is not sent. */
  maxWaitHours?: number;
}

const HOURLY_MAX = 3;
/** Notices report what someone else has done, so they have a higher limit. */
const HOURLY_NOTICES_MAX = 10;

/** Each kind has a function in jobs/account_mail/write_account_mail.ts, which writes the mail. */
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
  /** To the old address: a change was requested, or has taken effect. */
  email_change_requested: { link: null, replaces: null, hourlyMax: HOURLY_MAX },
  email_changed: { link: null, replaces: null, hourlyMax: null },
  // Another invitation of the same organization revokes the older one, which ends its link.
  // Anyone can invite, so a stranger's invitations must not suppress those of others.
  invitation: {
    link: { page: "/invitation", minutes: 7 * 24 * 60 },
    replaces: null,
    hourlyMax: HOURLY_MAX,
    maxWaitHours: 6,
  },
  /** To owners: who did what. */
  organization_notice: { link: null, replaces: null, hourlyMax: HOURLY_NOTICES_MAX },
  /** To owners: the organization will be deleted, will not, or is. */
  deletion_notice: { link: null, replaces: null, hourlyMax: HOURLY_NOTICES_MAX },
  /** To a member whose role has changed. */
  membership_notice: { link: null, replaces: null, hourlyMax: HOURLY_NOTICES_MAX },
  /** To a former member who was removed. Changes of their role just before must not suppress it. */
  removal_notice: { link: null, replaces: null, hourlyMax: null },
  /** To a user: a change of their second factors, or someone's attempts to use one. */
  factor_notice: { link: null, replaces: null, hourlyMax: HOURLY_NOTICES_MAX },
} as const satisfies Readonly<Record<string, AccountMailPolicy>>;

export type AccountMailKind = keyof typeof ACCOUNT_MAILS;

/** Makes the secret of a link: 32 random bytes. It is in the mail and nowhere else. */
export function mintLinkToken(): { token: string; tokenHash: Buffer } {
  const token = randomBytes(32).toString("base64url");
  return { token, tokenHash: hashLinkToken(token) };
}

/** The only form in which a token is stored and looked up. A fast hash is enough: tokens have 256 bits. */
export function hashLinkToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The events of second factors that users get a mail about. */
export type FactorNotice =
  | { event: "added"; name: string }
  /** `isLast`: signing in requires the password alone. */
  | { event: "removed"; name: string; isLast: boolean }
  /** An operator has removed all of them. */
  | { event: "reset" }
  | { event: "codes_renewed" }
  | { event: "code_used"; codesLeft: number }
  /** Someone who knows the password or uses a session enters wrong codes. */
  | { event: "guessed" }
  /** A passkey was copied. */
  | { event: "copied" };
