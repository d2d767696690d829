/** The callers, and the response of each access class to them (docs/contract.md, Organizations and permissions). */
import type { ErrorCode } from "../../../shared/errors.ts";

/**
 * All callers. Unless the caller's name says otherwise, keys have kind `user` and scope `write`, and keys and sessions
 * belong to a publisher.
 */
export const CALLERS = [
  "anonymous",
  // Owns a paid organization and is not a member of the requested organization.
  "outsider",
  // Owns the requested organization, which is on the free tier.
  "freeMember",
  ...["viewer", "publisher", "admin", "owner"],
  // Not a member of the requested organization. Its own organization is on the free tier.
  "platformAdmin",
  ...["session", "automationKey", "systemKey", "readKey"],
  // Sessions of the organization's owner and of the outsider.
  ...["ownerSession", "outsiderSession"],
  // A key bound to the requested organization, and a key bound to the publisher's personal organization (free tier).
  ...["boundKey", "boundElsewhere"],
  ...["revokedKey", "expiredKey", "unknownKey", "endedSession"],
] as const;

export type CallerName = (typeof CALLERS)[number];

/**
 * The callers for further cases of a route with the same access class. Except for `admin`, every other caller differs
 * from one of these callers only in its credential, which the pipeline checks before it knows the case.
 */
export const MAIN_CALLERS: readonly CallerName[] = [
  ...(["anonymous", "outsider", "freeMember", "viewer", "owner", "platformAdmin"] as const),
  ...(["session", "automationKey", "readKey", "boundKey", "boundElsewhere", "revokedKey"] as const),
];

/** A few different callers, for rows that hash a password and for HEAD requests. */
export const FEW_CALLERS: readonly CallerName[] = [
  ...(["anonymous", "outsider", "viewer", "ownerSession"] as const),
  ...(["automationKey", "readKey", "revokedKey"] as const),
];

/** The status and error code of a refused request. */
type Refusal = `${number} ${ErrorCode}`;

/** The refused callers, each with its refusal. All other callers are served. */
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

/**
 * Access classes by name. Within a class, later refusals override earlier ones. The refusal that the service checks
 * first therefore comes last. docs/contract.md, Errors, has the order for exports.
 */
export const ACCESS = {
  /** Pages, health and metrics, which check no credential. */
  anything: {},
  /** Routes that need no credential but refuse an invalid credential. */
  everyone: EVERYONE,
  /** Like `everyone`, for holders of a mailed link. The response includes the address that received the link. */
  linkHolders: EVERYONE,
  /** Like `everyone`, but keys of scope `read` are refused. */
  everyoneToWrite: { ...NOT_READ_ONLY, ...EVERYONE },
  /** Callers with any valid credential. */
  known: KNOWN,
  /** Callers with a session. Keys are refused. */
  sessions: SESSIONS,
  /** Like `sessions`, for a resource that belongs to another user. For the caller, the resource does not exist. */
  sessionsOfOthers: { ...SESSIONS, ...refuse(WITH_SESSION, "404 NOT_FOUND") },
  /** Sessions of the organization's owners and admins. */
  orgAdminSessions: {
    ...SESSIONS,
    session: "403 INSUFFICIENT_ORG_ROLE",
    outsiderSession: "403 ORG_ACCESS_DENIED",
  },
  /**
   * Members of the organization. The response to other callers reveals whether a slug in the path exists, but not
   * whether a slug in `X-Org-Slug` exists.
   */
  members: MEMBERS,
  /** Owners and admins of the organization. */
  orgAdmins: { ...ADMINS, ...MEMBERS },
  orgAdminsToWrite: { ...ADMINS, ...MEMBERS, ...NOT_READ_ONLY },
  /** No caller is served, because the organization does not exist. */
  membersOfNone: { ...refuse(CALLERS, "404 ORG_NOT_FOUND"), ...KNOWN },

  /** Members of the organization. For other callers, the definition does not exist. */
  definitionMembers: MEMBERS_OR_404,
  /** Callers whose credential is valid for a paid organization. */
  subscribers: SUBSCRIBERS,
  /** Subscribers who can see a private definition. */
  subscribedMembers: { ...SUBSCRIBERS, ...MEMBERS_OR_404 },
  /** Publishers and above in the organization of `X-Org-Slug` or of the path. */
  definitionWriters: { ...PUBLISHERS, ...NOT_READ_ONLY, ...MEMBERS },
  /**
   * Callers with any valid credential except a key of scope `read`. A request writes to the caller's personal
   * organization.
   */
  homeWriters: HOME_WRITERS,
  /**
   * Like `definitionWriters`, without `X-Org-Slug`. The write applies to the caller's organization that has the
   * definition.
   */
  lineWriters: { ...PUBLISHERS, ...refuse(STRANGERS, "404 NOT_FOUND"), ...HOME_WRITERS },
  /** Callers who can see a private definition and fork it into their personal organization. */
  homeForkers: { ...refuse(STRANGERS, "404 NOT_FOUND"), ...HOME_WRITERS },
  platformAdmins: PLATFORM_ADMINS,

  /** Exports of one dataset: any member on a paid tier, with any kind of key. */
  datasetExporters: PROJECT_MEMBERS,
  /** Like `datasetExporters`, with the slug of a project in the organization of `X-Org-Slug`. */
  datasetExportersOfOrg: { ...PAYING, ...MEMBERS },
  /** Exports of a whole project: publishers and above on a paid tier, with personal credentials. */
  bundleExporters: { ...PROJECT_MEMBERS, ...PUBLISHERS, ...PEOPLE },
  /** The organization's export jobs: publishers and above, with personal credentials. */
  jobListers: JOB_LISTERS,
  /** Like `jobListers`, on a paid tier and with scope `write`. */
  jobQueuers: { ...PAYING, ...NOT_READ_ONLY, ...JOB_LISTERS },
  /** One export job, whose id identifies the organization: publishers and above, with personal credentials. */
  jobReaders: JOB_READERS,
  jobCancelers: { ...NOT_READ_ONLY, ...JOB_READERS },
  /** The file of an export job: any member, with personal credentials. */
  jobDownloaders: JOB_MEMBERS,
} as const satisfies Record<string, AccessClass>;

export type AccessName = keyof typeof ACCESS;

/** Returns the expected refusal of a caller, or the status of a success. */
export function expectedOf(access: AccessName, caller: CallerName, ok: number): string {
  const refusals: AccessClass = ACCESS[access];
  return refusals[caller] ?? String(ok);
}
