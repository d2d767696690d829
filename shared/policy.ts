/**
 * Permission rules as pure functions: facts about a caller in, a verdict out. Who may see a definition is part of its
 * queries: `sql/definitions/visibility.ts`.
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

/** Allowed, or the error a client gets, with the details it may see. */
export type Verdict =
  | { ok: true }
  | { ok: false; code: ErrorCode; details?: NonNullable<ApiErrorOptions["details"]> };

/** What a credential says of itself. A session is as good as its user. */
export type Credential =
  | { type: "session"; id: string; expiresAt: string }
  | {
      type: "key";
      id: string;
      kind: KeyKind;
      scope: KeyScope;
      /** The one organization the key works for; `null` when it works for all of its owner's. */
      orgId: string | null;
      expiresAt: string | null;
    };

const ALLOWED: Verdict = { ok: true };

/** A read key writes nothing; a session is no key. */
export function mayWrite(credential: Credential): Verdict {
  if (credential.type === "session" || credential.scope === "write") return ALLOWED;
  return { ok: false, code: "INSUFFICIENT_SCOPE" };
}

/** Whether the caller's role is at least the required one. */
export function hasOrgRole(currentRole: OrgRole, requiredRole: OrgRole): Verdict {
  if (ORG_ROLES.indexOf(currentRole) >= ORG_ROLES.indexOf(requiredRole)) return ALLOWED;
  return { ok: false, code: "INSUFFICIENT_ORG_ROLE", details: { currentRole, requiredRole } };
}

/** Signing out and the handling of keys are for who signed in: a key that leaked makes no other keys. */
export function isSession(credential: Credential): Verdict {
  return credential.type === "session" ? ALLOWED : { ok: false, code: "SESSION_REQUIRED" };
}

/** Bundles, estimates and jobs are for people: automation and system keys stay out. */
export function isPersonalCredential(credential: Credential): Verdict {
  if (credential.type === "session" || credential.kind === "user") return ALLOWED;
  return { ok: false, code: "KEY_KIND_FORBIDDEN", details: { kind: credential.kind } };
}

/** Every export needs a paid tier of the organization that owns the project. */
export function maySubscriptionExport(currentTier: SubscriptionTier): Verdict {
  return needsPaidTier(currentTier, "export");
}

/** The facts that decide whether an export may start. */
export interface ExportFacts {
  credential: Credential;
  role: OrgRole;
  tier: SubscriptionTier;
}

/** One dataset: any member, any kind of key, a paid tier. */
export function mayExportDataset(facts: ExportFacts): Verdict {
  return maySubscriptionExport(facts.tier);
}

/**
 * A bundle or its estimate, or a new export job: a personal credential, publisher or above, a paid tier, refused in
 * this order.
 */
export function mayExportBundle(facts: ExportFacts): Verdict {
  return firstDenial(mayManageExportJobs(facts), maySubscriptionExport(facts.tier));
}

/** To list, watch and cancel the organization's export jobs: a personal credential, publisher or above. */
export function mayManageExportJobs(facts: Pick<ExportFacts, "credential" | "role">): Verdict {
  return firstDenial(isPersonalCredential(facts.credential), hasOrgRole(facts.role, "publisher"));
}

/** Every write of the registry: publisher or above in the organization that the call means. */
export function mayWriteDefinitions(currentRole: OrgRole): Verdict {
  return hasOrgRole(currentRole, "publisher");
}

/** The tier `pro` is given by platform administrators only. */
export function maySetDefinitionTier(facts: { tier: DefinitionTier; platformRole: PlatformRole }): Verdict {
  return facts.tier === "pro" ? isPlatformAdmin(facts.platformRole) : ALLOWED;
}

/** Records of executions come from the platform, and from nobody else. */
export function mayRecordExecutions(platformRole: PlatformRole): Verdict {
  return isPlatformAdmin(platformRole);
}

/** A version as far as it decides who may fork it. */
export interface ForkSource {
  /** `null` when a name was given without a version and none is published. */
  status: DefinitionStatus | null;
  /** Whether it belongs to an organization of the caller's; only those fork drafts and what is archived. */
  isOwn: boolean;
  /** By an operator: it resolves for nobody. */
  isQuarantined: boolean;
}

/** Why a version cannot be forked, whoever asks; `null` when it can. */
export function forkDenialOfSource(source: ForkSource): "NOT_PUBLISHED" | "ARCHIVED" | null {
  const { status, isOwn, isQuarantined } = source;
  if (status === null || isQuarantined) return "NOT_PUBLISHED";
  if (isOwn || allowsOperation(status, "fork")) return null;
  return status === "archived" ? "ARCHIVED" : "NOT_PUBLISHED";
}

/** Why a caller cannot fork a version; `null` when they can. `role` is that in the organization that gets the fork. */
export function forkDenial(source: ForkSource, role: OrgRole | null): ForkDenial | null {
  const denial = forkDenialOfSource(source);
  if (denial) return denial;
  if (role === null) return "UNAUTHENTICATED";
  return mayWriteDefinitions(role).ok ? null : "INSUFFICIENT_ORG_ROLE";
}

/** To compare what documents say, beyond which sections differ, needs a paid tier in any of the caller's organizations. */
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

function isPlatformAdmin(platformRole: PlatformRole): Verdict {
  if (platformRole === "admin") return ALLOWED;
  return { ok: false, code: "ROLE_REQUIRED", details: { requiredRole: "admin" } };
}

function firstDenial(...verdicts: readonly Verdict[]): Verdict {
  return verdicts.find((verdict) => !verdict.ok) ?? ALLOWED;
}
