import { describe, expect, test } from "bun:test";
import {
  type Credential,
  forkDenial,
  hasOrgRole,
  isPersonalCredential,
  isSession,
  mayCompareContent,
  mayExportBundle,
  mayExportDataset,
  mayManageExportJobs,
  maySeeOrg,
  maySetDefinitionTier,
  mayWrite,
  mayWriteDefinitions,
} from "../../shared/policy.ts";
import {
  DEFINITION_STATUSES,
  KEY_KINDS,
  type KeyKind,
  type KeyScope,
  ORG_ROLES,
  type OrgRole,
  SUBSCRIPTION_TIERS,
} from "../../shared/vocabulary.ts";

const session: Credential = {
  type: "session",
  id: "s",
  expiresAt: "2999-01-01T00:00:00.000Z",
  isProven: false,
};

function key(kind: KeyKind, scope: KeyScope = "write"): Credential {
  return { type: "key", id: "k", kind, scope, orgId: null, expiresAt: null };
}

test("mayWrite() allows sessions and keys with the write scope", () => {
  expect(mayWrite(session)).toEqual({ ok: true });
  expect(mayWrite(key("automation", "write"))).toEqual({ ok: true });
  expect(mayWrite(key("user", "read"))).toEqual({ ok: false, code: "INSUFFICIENT_SCOPE" });
});

test("maySeeOrg() hides an organization that requires a second factor only from sessions without a second factor", () => {
  const guarded = { slug: "demo", requireSecondFactor: true };
  const refusal = { ok: false, code: "SECOND_FACTOR_REQUIRED", details: { organization: "demo" } } as const;
  expect(maySeeOrg(session, guarded)).toEqual(refusal);
  for (const credential of [{ ...session, isProven: true }, key("user"), key("automation", "read")]) {
    expect(maySeeOrg(credential, guarded)).toEqual({ ok: true });
  }
  expect(maySeeOrg(session, { ...guarded, requireSecondFactor: false })).toEqual({ ok: true });
});

test("isSession() rejects keys of every kind", () => {
  expect(isSession(session)).toEqual({ ok: true });
  for (const kind of KEY_KINDS) {
    expect(isSession(key(kind))).toEqual({ ok: false, code: "SESSION_REQUIRED" });
  }
});

test("hasOrgRole() ranks roles in the order viewer, publisher, admin, owner", () => {
  const allowed = ORG_ROLES.map((required) =>
    ORG_ROLES.filter((current) => hasOrgRole(current, required).ok),
  );
  expect(allowed).toEqual([
    ["viewer", "publisher", "admin", "owner"],
    ["publisher", "admin", "owner"],
    ["admin", "owner"],
    ["owner"],
  ]);
  expect(hasOrgRole("viewer", "publisher")).toEqual({
    ok: false,
    code: "INSUFFICIENT_ORG_ROLE",
    details: { currentRole: "viewer", requiredRole: "publisher" },
  });
});

test("isPersonalCredential() rejects automation and system keys", () => {
  const personal = KEY_KINDS.filter((kind) => isPersonalCredential(key(kind)).ok);
  expect([personal, isPersonalCredential(session).ok]).toEqual([["user"], true]);
  expect(isPersonalCredential(key("system"))).toEqual({
    ok: false,
    code: "KEY_KIND_FORBIDDEN",
    details: { kind: "system" },
  });
});

describe("mayExportDataset()", () => {
  test("allows every role and every credential on a paid tier", () => {
    for (const credential of [session, ...KEY_KINDS.map((kind) => key(kind, "read"))]) {
      for (const role of ORG_ROLES) {
        expect(mayExportDataset({ credential, role, tier: "hobbyist" })).toEqual({ ok: true });
        expect(mayExportDataset({ credential, role, tier: "free" }).ok).toBe(false);
      }
    }
  });

  test("rejects only the free tier", () => {
    const member = { credential: session, role: "viewer" } as const;
    const paid = SUBSCRIPTION_TIERS.filter((tier) => mayExportDataset({ ...member, tier }).ok);
    expect(paid).toEqual(["hobbyist", "plus", "pro", "enterprise"]);
    expect(mayExportDataset({ ...member, tier: "free" })).toEqual({
      ok: false,
      code: "SUBSCRIPTION_REQUIRED",
      details: { requiredTier: "hobbyist", currentTier: "free", feature: "export" },
    });
  });
});

describe("mayExportBundle()", () => {
  test("allows a personal credential with the role publisher or above and a paid tier", () => {
    expect(mayExportBundle({ credential: session, role: "publisher", tier: "hobbyist" })).toEqual({
      ok: true,
    });
    expect(mayExportBundle({ credential: key("user", "read"), role: "owner", tier: "pro" })).toEqual({
      ok: true,
    });
  });

  test("checks the kind of key, then the role, then the tier", () => {
    const codes = [
      mayExportBundle({ credential: key("automation"), role: "viewer", tier: "free" }),
      mayExportBundle({ credential: session, role: "viewer", tier: "free" }),
      mayExportBundle({ credential: session, role: "publisher", tier: "free" }),
    ].map((verdict) => (verdict.ok ? "allowed" : verdict.code));
    expect(codes).toEqual(["KEY_KIND_FORBIDDEN", "INSUFFICIENT_ORG_ROLE", "SUBSCRIPTION_REQUIRED"]);
  });
});

test("mayManageExportJobs() requires a personal credential, then publisher or above", () => {
  expect(mayManageExportJobs({ credential: key("automation"), role: "viewer" })).toMatchObject({
    code: "KEY_KIND_FORBIDDEN",
  });
  const roles = ORG_ROLES.filter((role) => mayManageExportJobs({ credential: session, role }).ok);
  expect(roles).toEqual(["publisher", "admin", "owner"]);
});

test("mayWriteDefinitions() requires publisher or above", () => {
  const allowed = ORG_ROLES.filter((role) => mayWriteDefinitions(role).ok);
  expect(allowed).toEqual(["publisher", "admin", "owner"]);
});

test("mayCompareContent() rejects only the free tier", () => {
  expect(SUBSCRIPTION_TIERS.filter((tier) => mayCompareContent(tier).ok)).toEqual([
    "hobbyist",
    "plus",
    "pro",
    "enterprise",
  ]);
  expect(mayCompareContent("free")).toMatchObject({ details: { currentTier: "free", feature: "diff" } });
});

test("forkDenial() checks the version's status, then the caller's role", () => {
  const refusals = (isOwn: boolean, role: OrgRole | null) =>
    [...DEFINITION_STATUSES, null].map((status) => forkDenial({ status, isOwn, isQuarantined: false }, role));
  expect(refusals(false, "publisher")).toEqual(["NOT_PUBLISHED", null, null, "ARCHIVED", "NOT_PUBLISHED"]);
  expect(refusals(true, "owner")).toEqual([null, null, null, null, "NOT_PUBLISHED"]);
  expect(new Set(refusals(true, "viewer"))).toEqual(new Set(["INSUFFICIENT_ORG_ROLE", "NOT_PUBLISHED"]));
  for (const status of DEFINITION_STATUSES) {
    expect(forkDenial({ status, isOwn: true, isQuarantined: true }, "owner")).toBe("NOT_PUBLISHED");
  }
  expect(refusals(false, null)).toEqual([
    "NOT_PUBLISHED",
    "UNAUTHENTICATED",
    "UNAUTHENTICATED",
    "ARCHIVED",
    "NOT_PUBLISHED",
  ]);
});

test("maySetDefinitionTier() allows pro only for platform administrators", () => {
  const refused = { ok: false, code: "ROLE_REQUIRED", details: { requiredRole: "admin" } } as const;
  for (const tier of ["user", "org"] as const) {
    expect(maySetDefinitionTier({ tier, platformRole: "user" })).toEqual({ ok: true });
  }
  expect(maySetDefinitionTier({ tier: "pro", platformRole: "user" })).toEqual(refused);
  expect(maySetDefinitionTier({ tier: "pro", platformRole: "admin" })).toEqual({ ok: true });
});
