/**
 * Permission rules as pure functions: facts about a caller in, a verdict out. Visibility of definitions is part of
 * their queries: `sql/definitions/visibility.ts`. A project or definition that the caller cannot see is 404 before any
 * rule here applies.
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

/** Allowed, or the error code and details for the client. */
export type Verdict =
  | { ok: true }
  | { ok: false; code: ErrorCode; details?: NonNullable<ApiErrorOptions["details"]> };

/** A credential. A session has all rights of its user. */
export type Credential =
  | {
      type: "session";
      id: string;
      expiresAt: string;
      /** Whether its user has proven themselves with a second factor. */
      isProven: boolean;
    }
  | {
      type: "key";
      id: string;
      kind: KeyKind;
      scope: KeyScope;
      /** The one organization the key works for; null for all of its owner's. */
      orgId: string | null;
      expiresAt: string | null;
    };

const ALLOWED: Verdict = { ok: true };

/** Keys of scope `read` cannot write. */
export function mayWrite(credential: Credential): Verdict {
  if (credential.type === "session" || credential.scope === "write") return ALLOWED;
  return { ok: false, code: "INSUFFICIENT_SCOPE" };
}

export function hasOrgRole(currentRole: OrgRole, requiredRole: OrgRole): Verdict {
  if (ORG_ROLES.indexOf(currentRole) >= ORG_ROLES.indexOf(requiredRole)) return ALLOWED;
  return { ok: false, code: "INSUFFICIENT_ORG_ROLE", details: { currentRole, requiredRole } };
}

/** Owners manage all members and invitations; admins those with these roles if none of them is owner. */
export function mayManageMembers(currentRole: OrgRole, ...roles: readonly OrgRole[]): Verdict {
  return hasOrgRole(currentRole, roles.includes("owner") ? "owner" : "admin");
}

/** Signing out and managing keys require a session, so that a leaked key cannot create others. */
export function isSession(credential: Credential): Verdict {
  return credential.type === "session" ? ALLOWED : { ok: false, code: "SESSION_REQUIRED" };
}

/** Returns true for a session that the password alone began. Keys need no second factor. */
export function isUnproven(credential: Credential): boolean {
  return credential.type === "session" && !credential.isProven;
}

/** A member sees nothing of an organization that requires a second factor without one. */
export function maySeeOrg(
  credential: Credential,
  org: { slug: string; requireSecondFactor: boolean },
): Verdict {
  if (!org.requireSecondFactor || !isUnproven(credential)) return ALLOWED;
  return { ok: false, code: "SECOND_FACTOR_REQUIRED", details: { organization: org.slug } };
}

/** Bundles, estimates and jobs require a personal credential, not an automation or system key. */
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

/** One dataset: any member, any kind of key, a paid tier of the project's organization. */
export function mayExportDataset({ tier }: ExportFacts): Verdict {
  return needsPaidTier(tier, "export");
}

/**
 * A bundle, an estimate or a new export job requires a personal credential, publisher or above, and a paid tier,
 * checked in this order.
 */
export function mayExportBundle(facts: ExportFacts): Verdict {
  return firstDenial(mayManageExportJobs(facts), mayExportDataset(facts));
}

/** Listing, getting and canceling export jobs requires a personal credential, publisher or above. */
export function mayManageExportJobs(facts: Pick<ExportFacts, "credential" | "role">): Verdict {
  return firstDenial(isPersonalCredential(facts.credential), hasOrgRole(facts.role, "publisher"));
}

/** Every write of definitions requires publisher or above in the organization of the request. */
export function mayWriteDefinitions(currentRole: OrgRole): Verdict {
  return hasOrgRole(currentRole, "publisher");
}

/** Only platform administrators can set the tier `pro`. */
export function maySetDefinitionTier(facts: { tier: DefinitionTier; platformRole: PlatformRole }): Verdict {
  return facts.tier === "pro" ? isPlatformAdmin(facts.platformRole) : ALLOWED;
}

/** Only the platform records executions. */
export function mayRecordExecutions(platformRole: PlatformRole): Verdict {
  return isPlatformAdmin(platformRole);
}

/** The facts of a version that decide who may fork it. */
export interface ForkOrigin {
  /** Null if the request names no version and none is published. */
  status: DefinitionStatus | null;
  /** True if the caller is a member of its organization; only members can fork drafts and archived versions. */
  isOwn: boolean;
  /** Quarantined by an operator: it resolves for no one. */
  isQuarantined: boolean;
}

/** Returns why no one can fork a version; null if it can be forked. */
export function forkDenialOfSource(source: ForkOrigin): "NOT_PUBLISHED" | "ARCHIVED" | null {
  const { status, isOwn, isQuarantined } = source;
  if (status === null || isQuarantined) return "NOT_PUBLISHED";
  if (isOwn || allowsOperation(status, "fork")) return null;
  return status === "archived" ? "ARCHIVED" : "NOT_PUBLISHED";
}

/**
 * Returns why a caller cannot fork a version; null if they can. `role` is the caller's role in the fork's organization.
 */
export function forkDenial(source: ForkOrigin, role: OrgRole | null): ForkDenial | null {
  const denial = forkDenialOfSource(source);
  if (denial) return denial;
  if (role === null) return "UNAUTHENTICATED";
  return mayWriteDefinitions(role).ok ? null : "INSUFFICIENT_ORG_ROLE";
}

/**
 * Comparing the content of documents requires a paid tier in any of the caller's organizations; listing changed
 * sections does not.
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

/** Where only operators create organizations, platform administrators may too. */
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
