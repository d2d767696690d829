/** Every kind of caller, and how each class of routes responds to them (docs/contract.md, Organizations and permissions). */
import type { ErrorCode } from "../../../shared/errors.ts";

/**
 * Where the name does not say otherwise, keys are of kind `user` with scope `write`, and keys and session belong to
 * a publisher.
 */
export const CALLERS = [
  "anonymous",
  // Owns a paid organization and is no member of the requested one.
  "outsider",
  // Owns the requested organization, which is on the free tier.
  "freeMember",
  ...["viewer", "publisher", "admin", "owner"],
  // No member of the requested organization, and on the free tier.
  "platformAdmin",
  ...["session", "automationKey", "systemKey", "readKey"],
  // Sessions of the organization's owner and of the outsider.
  ...["ownerSession", "outsiderSession"],
  // Keys bound to the requested organization, and to another organization of the same user.
  ...["boundKey", "boundElsewhere"],
  ...["revokedKey", "expiredKey", "unknownKey", "endedSession"],
] as const;

export type CallerName = (typeof CALLERS)[number];

/**
 * For further cases of a route that respond to all callers alike. The others differ from one of these in the credential
 * alone, which the pipeline reads before it knows the case.
 */
export const MAIN_CALLERS: readonly CallerName[] = [
  ...(["anonymous", "outsider", "freeMember", "viewer", "owner", "platformAdmin"] as const),
  ...(["session", "automationKey", "readKey", "boundKey", "boundElsewhere", "revokedKey"] as const),
];

/** One of every kind that is served or refused for another reason. */
export const FEW_CALLERS: readonly CallerName[] = [
  ...(["anonymous", "outsider", "viewer", "ownerSession"] as const),
  ...(["automationKey", "readKey", "revokedKey"] as const),
];

/** Status and error code. */
type Refusal = `${number} ${ErrorCode}`;

/** The callers who are refused, and how; all others are served. */
type AccessClass = Readonly<Partial<Record<CallerName, Refusal>>>;

const INVALID = ["revokedKey", "expiredKey", "unknownKey", "endedSession"] as const;
const STRANGERS = ["outsider", "outsiderSession", "platformAdmin", "boundElsewhere"] as const;
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
const ADMINS = refuse(except("admin", "owner", "ownerSession", "freeMember"), "403 INSUFFICIENT_ORG_ROLE");
const MEMBERS_OR_404 = { ...refuse([...STRANGERS, "anonymous"], "404 NOT_FOUND"), ...EVERYONE };
const WITH_SESSION = ["session", "ownerSession", "outsiderSession"] as const;
const SESSIONS = { ...refuse(except(...WITH_SESSION), "403 SESSION_REQUIRED"), ...KNOWN };
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

/** Classes by name. In each class, later entries are checked first, in the order of docs/contract.md, Errors. */
export const ACCESS = {
  /** Pages, health and metrics: no credential is checked. */
  anything: {},
  /** Needs no credential, but refuses an invalid one. */
  everyone: EVERYONE,
  /** The same, for holders of a link: the response names the address that it was mailed to. */
  linkHolders: EVERYONE,
  /** The same, and keys of scope `read` cannot sign in. */
  everyoneToWrite: { ...NOT_READ_ONLY, ...EVERYONE },
  /** Any valid credential. */
  known: KNOWN,
  /** A session; no key is accepted. */
  sessions: SESSIONS,
  /** Belongs to another user, so it does not exist for this one. */
  sessionsOfOthers: { ...SESSIONS, ...refuse(WITH_SESSION, "404 NOT_FOUND") },
  /** Sessions of the organization's owners and admins. */
  orgAdminSessions: {
    ...SESSIONS,
    session: "403 INSUFFICIENT_ORG_ROLE",
    outsiderSession: "403 ORG_ACCESS_DENIED",
  },
  /** Members of the organization; others may know that it exists. */
  members: MEMBERS,
  /** Owners and admins of the organization. */
  orgAdmins: { ...ADMINS, ...MEMBERS },
  orgAdminsToWrite: { ...ADMINS, ...MEMBERS, ...NOT_READ_ONLY },
  /** No caller: the organization does not exist. */
  membersOfNone: { ...refuse(CALLERS, "404 ORG_NOT_FOUND"), ...KNOWN },

  /** Members of the organization; for others the definition does not exist. */
  definitionMembers: MEMBERS_OR_404,
  /** Callers with a paid organization within reach of their credential. */
  subscribers: SUBSCRIBERS,
  /** Paying callers who can see a private definition. */
  subscribedMembers: { ...SUBSCRIBERS, ...MEMBERS_OR_404 },
  /** Publishers and above of the organization that `X-Org-Slug` names. */
  definitionWriters: { ...PUBLISHERS, ...NOT_READ_ONLY, ...MEMBERS },
  /** All callers who may write, in their personal organization. */
  homeWriters: HOME_WRITERS,
  /** The same without `X-Org-Slug`: a write finds the caller's organization that has the definition. */
  lineWriters: { ...PUBLISHERS, ...refuse(STRANGERS, "404 NOT_FOUND"), ...HOME_WRITERS },
  /** Callers who can see a private definition and fork it into their personal organization. */
  homeForkers: { ...refuse(STRANGERS, "404 NOT_FOUND"), ...HOME_WRITERS },
  platformAdmins: PLATFORM_ADMINS,

  /** One dataset: any member, any kind of key, a paid tier. */
  datasetExporters: PROJECT_MEMBERS,
  /** The same, with a project name in the organization of `X-Org-Slug`. */
  datasetExportersOfOrg: { ...PAYING, ...MEMBERS },
  /** A whole project: personal credentials, publisher or above. */
  bundleExporters: { ...PROJECT_MEMBERS, ...PUBLISHERS, ...PEOPLE },
  /** The organization's jobs: personal credentials, publisher or above. */
  jobListers: JOB_LISTERS,
  /** The same, on a paid tier. */
  jobQueuers: { ...PAYING, ...NOT_READ_ONLY, ...JOB_LISTERS },
  /** One job, whose id identifies the organization: personal credentials, publisher or above. */
  jobReaders: JOB_READERS,
  jobCancelers: { ...NOT_READ_ONLY, ...JOB_READERS },
  /** The file of a job: personal credentials of any member. */
  jobDownloaders: JOB_MEMBERS,
} as const satisfies Record<string, AccessClass>;

export type AccessName = keyof typeof ACCESS;

/** Returns the expected refusal of a caller, or the status of success. */
export function expectedOf(access: AccessName, caller: CallerName, ok: number): string {
  const refusals: AccessClass = ACCESS[access];
  return refusals[caller] ?? String(ok);
}
