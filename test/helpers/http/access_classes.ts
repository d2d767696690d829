/** Every kind of caller, and how each class of routes responds to them (docs/contract.md, Organizations and permissions). */
import type { ErrorCode } from "../../../shared/errors.ts";

/** Keys are of kind `user` and may write, and they and the session are a publisher's, where the name does not say. */
export const CALLERS = [
  "anonymous",
  // With a paid organization of their own, and no member of the one it is about.
  "outsider",
  // Owns the organization it is about, which is on the free tier.
  "freeMember",
  ...["viewer", "publisher", "admin", "owner"],
  // No member either, and on the free tier at home.
  "platformAdmin",
  ...["session", "automationKey", "systemKey", "readKey"],
  // Bound to the organization it is about, and to another of its owner's.
  ...["boundKey", "boundElsewhere"],
  ...["revokedKey", "expiredKey", "unknownKey", "endedSession"],
] as const;

export type CallerName = (typeof CALLERS)[number];

/** Status and error code. */
type Refusal = `${number} ${ErrorCode}`;

/** Who is refused, and how; everybody else is served. */
type AccessClass = Readonly<Partial<Record<CallerName, Refusal>>>;

const INVALID = ["revokedKey", "expiredKey", "unknownKey", "endedSession"] as const;
const STRANGERS = ["outsider", "platformAdmin", "boundElsewhere"] as const;
const MACHINES = ["automationKey", "systemKey"] as const;

function refuse(callers: readonly CallerName[], refusal: Refusal): AccessClass {
  return Object.fromEntries(callers.map((caller) => [caller, refusal]));
}

function except(...callers: CallerName[]): CallerName[] {
  return CALLERS.filter((caller) => !callers.includes(caller));
}

const EVERYONE = refuse(INVALID, "401 UNAUTHORIZED");
const KNOWN = { ...EVERYONE, ...refuse(["anonymous"], "401 UNAUTHORIZED") };
const NOT_READ_ONLY = refuse(["readKey"], "403 INSUFFICIENT_SCOPE");
const PUBLISHERS = refuse(["viewer"], "403 INSUFFICIENT_ORG_ROLE");
const PEOPLE = refuse(MACHINES, "403 KEY_KIND_FORBIDDEN");
const PAYING = refuse(["freeMember"], "402 SUBSCRIPTION_REQUIRED");
const MEMBERS = { ...refuse(STRANGERS, "403 ORG_ACCESS_DENIED"), ...KNOWN };
const ADMINS = refuse(except("admin", "owner", "freeMember"), "403 INSUFFICIENT_ORG_ROLE");
const MEMBERS_OR_404 = { ...refuse([...STRANGERS, "anonymous"], "404 NOT_FOUND"), ...EVERYONE };
const SESSIONS = { ...refuse(except("session"), "403 SESSION_REQUIRED"), ...KNOWN };
const HOME_WRITERS = { ...NOT_READ_ONLY, ...KNOWN };
const PLATFORM_ADMINS = { ...refuse(except("platformAdmin"), "403 ROLE_REQUIRED"), ...HOME_WRITERS };
const SUBSCRIBERS = {
  ...refuse(["anonymous", "freeMember", "platformAdmin", "boundElsewhere"], "402 SUBSCRIPTION_REQUIRED"),
  ...EVERYONE,
};
const PROJECT_MEMBERS = { ...PAYING, ...refuse(STRANGERS, "404 PROJECT_NOT_FOUND"), ...KNOWN };
const JOB_LISTERS = { ...PUBLISHERS, ...PEOPLE, ...MEMBERS };
const JOB_MEMBERS = { ...PEOPLE, ...refuse(STRANGERS, "404 EXPORT_JOB_NOT_FOUND"), ...KNOWN };
const JOB_READERS = { ...PUBLISHERS, ...JOB_MEMBERS };

/** Classes by name. In each, what comes later is refused first, in the order of docs/contract.md, Errors. */
export const ACCESS = {
  /** Beside the API, pages, health and metrics look at no credential. */
  anything: {},
  /** A wrong credential is refused where none is needed, too. */
  everyone: EVERYONE,
  /** The same, and a read key signs nobody in. */
  everyoneToWrite: { ...NOT_READ_ONLY, ...EVERYONE },
  /** Anybody who is known. */
  known: KNOWN,
  /** Who signed in: no key will do. */
  sessions: SESSIONS,
  /** It belongs to somebody else, and so is not there. */
  sessionsOfOthers: { ...SESSIONS, session: "404 NOT_FOUND" },
  /** Members of the organization, which others may know to exist. */
  members: MEMBERS,
  /** Owners and admins of the organization. */
  orgAdmins: { ...ADMINS, ...MEMBERS },
  orgAdminsToWrite: { ...ADMINS, ...MEMBERS, ...NOT_READ_ONLY },
  /** Nobody: there is no such organization. */
  membersOfNone: { ...refuse(CALLERS, "404 ORG_NOT_FOUND"), ...KNOWN },

  /** Members of the organization; for others there is no such definition. */
  definitionMembers: MEMBERS_OR_404,
  /** Who pays, in any organization of theirs, as far as the credential reaches. */
  subscribers: SUBSCRIBERS,
  /** Who pays and sees a private definition. */
  subscribedMembers: { ...SUBSCRIBERS, ...MEMBERS_OR_404 },
  /** Publishers and above of the organization that `X-Org-Slug` names. */
  definitionWriters: { ...PUBLISHERS, ...NOT_READ_ONLY, ...MEMBERS },
  /** Everybody who may write at all: in an organization of their own. */
  homeWriters: HOME_WRITERS,
  /** The same without `X-Org-Slug`: a write finds the caller's organization that has the definition. */
  lineWriters: { ...PUBLISHERS, ...refuse(STRANGERS, "404 NOT_FOUND"), ...HOME_WRITERS },
  /** Who sees a private definition, and takes it home. */
  homeForkers: { ...refuse(STRANGERS, "404 NOT_FOUND"), ...HOME_WRITERS },
  platformAdmins: PLATFORM_ADMINS,

  /** One dataset: any member, any kind of key, a paid tier. */
  datasetExporters: PROJECT_MEMBERS,
  /** The same, with the project named within the organization of `X-Org-Slug`. */
  datasetExportersOfOrg: { ...PAYING, ...MEMBERS },
  /** A whole project: people only, publisher or above. */
  bundleExporters: { ...PROJECT_MEMBERS, ...PUBLISHERS, ...PEOPLE },
  /** The organization's jobs: people only, publisher or above. */
  jobListers: JOB_LISTERS,
  /** Those, on a paid tier. */
  jobQueuers: { ...PAYING, ...NOT_READ_ONLY, ...JOB_LISTERS },
  /** One job, whose id names the organization: people only, publisher or above. */
  jobReaders: JOB_READERS,
  jobCancelers: { ...NOT_READ_ONLY, ...JOB_READERS },
  /** Its file: people only, any member. */
  jobDownloaders: JOB_MEMBERS,
} as const satisfies Record<string, AccessClass>;

export type AccessName = keyof typeof ACCESS;

/** What a caller gets, in the words of `Refusal`, or the status of a success. */
export function expectedOf(access: AccessName, caller: CallerName, ok: number): string {
  const refusals: AccessClass = ACCESS[access];
  return refusals[caller] ?? String(ok);
}
