/**
 * Permission rules as pure functions, which return a verdict for the facts about a caller. The queries of definitions decide
 * on visibility: `sql/definitions/visibility.ts`. If a caller cannot see a project or definition, the response is 404 before
 * any of these rules applies.
 */
import { allowsOperation } from "./definitions/lifecycle.ts";
import type { ApiErrorOptions, ErrorCode } from "./errors.ts";
import {
  type DefinitionStatus,
  type DefinitionTier,
  type ForkDenial,
  type KeyKind,
  type KeyScope,
  ORG_ROLES,
  type OrgRole,
  type PlatformRole,
  type SubscriptionTier,
} from "./vocabulary.ts";

/** The verdict of a rule: allowed, or the error code and details for the client. */
export type Verdict =
  | { ok: true }
  | { ok: false; code: ErrorCode; details?: NonNullable<ApiErrorOptions["details"]> };

/** The credential of a caller. A session has all rights of its user. */
export type Credential =
  | {
      type: "session";
      id: string;
      expiresAt: string;
      /** True if the user has signed in with a second factor. */
      isProven: boolean;
    }
  | {
      type: "key";
      id: string;
      kind: KeyKind;
      scope: KeyScope;
      /** The only organization for which the key works; null for all organizations of its owner. */
      orgId: string | null;
      expiresAt: string | null;
    };

const ALLOWED: Verdict = { ok: true };

/** Writing requires a session or a key with the scope `write`. */
export function mayWrite(credential: Credential): Verdict {
  if (credential.type === "session" || credential.scope === "write") return ALLOWED;
  return { ok: false, code: "INSUFFICIENT_SCOPE" };
}

export function hasOrgRole(currentRole: OrgRole, requiredRole: OrgRole): Verdict {
  if (ORG_ROLES.indexOf(currentRole) >= ORG_ROLES.indexOf(requiredRole)) return ALLOWED;
  return { ok: false, code: "INSUFFICIENT_ORG_ROLE", details: { currentRole, requiredRole } };
}

/** Owners manage all members and invitations. Admins manage them only if none of the roles involved is owner. */
export function mayManageMembers(currentRole: OrgRole, ...roles: readonly OrgRole[]): Verdict {
  return hasOrgRole(currentRole, roles.includes("owner") ? "owner" : "admin");
}

/** Signing out and managing keys require a session, so that a leaked key cannot create other keys. */
export function isSession(credential: Credential): Verdict {
  return credential.type === "session" ? ALLOWED : { ok: false, code: "SESSION_REQUIRED" };
}

/** Returns true for a session without a second factor. Keys need no second factor. */
export function isUnproven(credential: Credential): boolean {
  return credential.type === "session" && !credential.isProven;
}

/** Without a second factor, a member cannot see an organization that requires one. */
export function maySeeOrg(
  credential: Credential,
  org: { slug: string; requireSecondFactor: boolean },
): Verdict {
  if (!org.requireSecondFactor || !isUnproven(credential)) return ALLOWED;
  return { ok: false, code: "SECOND_FACTOR_REQUIRED", details: { organization: org.slug } };
}

/** Bundles, estimates and jobs require a personal credential. Automation and system keys are not allowed. */
export function isPersonalCredential(credential: Credential): Verdict {
  if (credential.type === "session" || credential.kind === "user") return ALLOWED;
  return { ok: false, code: "KEY_KIND_FORBIDDEN", details: { kind: credential.kind } };
}

/** The facts that decide whether an export may start. */
export interface ExportFacts {
  credential: Credential;
  role: OrgRole;
  tier: SubscriptionTier;
}

/** Exporting a single dataset requires a paid tier of the project's organization. Any member and any kind of key may export it. */
export function mayExportDataset({ tier }: ExportFacts): Verdict {
  return needsPaidTier(tier, "export");
}

/**
 * A bundle, an estimate or a new export job requires a personal credential, the role publisher or above, and a paid tier,
 * checked in this order.
 */
export function mayExportBundle(facts: ExportFacts): Verdict {
  return firstDenial(mayManageExportJobs(facts), mayExportDataset(facts));
}

/** Listing, getting and canceling export jobs requires a personal credential and the role publisher or above. */
export function mayManageExportJobs(facts: Pick<ExportFacts, "credential" | "role">): Verdict {
  return firstDenial(isPersonalCredential(facts.credential), hasOrgRole(facts.role, "publisher"));
}

/** All writes of definitions require the role publisher or above in the organization of the request. */
export function mayWriteDefinitions(currentRole: OrgRole): Verdict {
  return hasOrgRole(currentRole, "publisher");
}

/** Only platform administrators can set the tier `pro`. */
export function maySetDefinitionTier(facts: { tier: DefinitionTier; platformRole: PlatformRole }): Verdict {
  return facts.tier === "pro" ? isPlatformAdmin(facts.platformRole) : ALLOWED;
}

/** Only platform administrators can record executions. */
export function mayRecordExecutions(platformRole: PlatformRole): Verdict {
  return isPlatformAdmin(platformRole);
}

/** The facts about a version that decide whether it can be forked. */
export interface ForkOrigin {
  /** Null if the request specifies no version and no version is published. */
  status: DefinitionStatus | null;
  /** True if the caller is a member of the version's organization. Only members can fork drafts and archived versions. */
  isOwn: boolean;
  /** True if an operator has quarantined the version, so that references to it do not resolve. */
  isQuarantined: boolean;
}

/** Returns the reason why the version itself prevents forking; null if it can be forked. */
export function forkDenialOfSource(source: ForkOrigin): "NOT_PUBLISHED" | "ARCHIVED" | null {
  const { status, isOwn, isQuarantined } = source;
  if (status === null || isQuarantined) return "NOT_PUBLISHED";
  if (isOwn || allowsOperation(status, "fork")) return null;
  return status === "archived" ? "ARCHIVED" : "NOT_PUBLISHED";
}

/**
 * Returns the reason why a caller cannot fork a version; null if they can. `role` is the caller's role in the organization of
 * the fork.
 */
export function forkDenial(source: ForkOrigin, role: OrgRole | null): ForkDenial | null {
  const denial = forkDenialOfSource(source);
  if (denial) return denial;
  if (role === null) return "UNAUTHENTICATED";
  return mayWriteDefinitions(role).ok ? null : "INSUFFICIENT_ORG_ROLE";
}

/**
 * Comparing the content of documents requires a paid tier in any of the caller's organizations. Listing changed sections does
 * not require one.
 */
export function mayCompareContent(currentTier: SubscriptionTier): Verdict {
  return needsPaidTier(currentTier, "diff");
}

function needsPaidTier(currentTier: SubscriptionTier, feature: string): Verdict {
  if (currentTier !== "free") return ALLOWED;
  return {
    ok: false,
    code: "SUBSCRIPTION_REQUIRED",
    details: { requiredTier: "hobbyist", currentTier, feature },
  };
}

/** Platform administrators may always create organizations. Other users may do so only if `creators` is `users`. */
export function mayCreateOrgs(facts: { creators: "users" | "admin"; platformRole: PlatformRole }): Verdict {
  return facts.creators === "users" ? ALLOWED : isPlatformAdmin(facts.platformRole);
}

function isPlatformAdmin(platformRole: PlatformRole): Verdict {
  if (platformRole === "admin") return ALLOWED;
  return { ok: false, code: "ROLE_REQUIRED", details: { requiredRole: "admin" } };
}

function firstDenial(...verdicts: readonly Verdict[]): Verdict {
  return verdicts.find((verdict) => !verdict.ok) ?? ALLOWED;
}
