/** Quota, audit entries and mails for changes to a user's second factors. */
import type { FactorNotice } from "../../../shared/account_mail_kinds.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { FactorKind } from "../../../shared/vocabulary.ts";
import { queueAccountMail } from "../../../sql/accounts/account_mails.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import {
  countRecoveryCodes,
  listSecondFactors,
  replaceRecoveryCodes,
  type SecondFactorRow,
} from "../../../sql/accounts/second_factors.ts";
import { markSessionsRevoked, updateSessionFactorAt } from "../../../sql/accounts/sessions.ts";
import type { UserRow } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import type { Caller } from "../../http/caller.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { lockCaller } from "../require_proof.ts";
import { FACTORS_MAX } from "./factor_schemas.ts";
import { hashRecoveryCode, mintRecoveryCodes } from "./recovery_code.ts";

/** Throws QUOTA_EXCEEDED if the user has the maximum number of factors. Call it after `lockCaller`. */
export async function requireRoomForFactor(tx: Sql, { userId }: Caller): Promise<void> {
  if ((await listSecondFactors(tx, userId)).length < FACTORS_MAX) return;
  throw new ApiError("QUOTA_EXCEEDED", { details: { quota: "factors", limit: FACTORS_MAX } });
}

/**
 * Prepares the addition of a factor. Locks the caller's account and checks the quota. Adds an audit entry, because this step
 * required a password or a factor. Returns the user.
 */
export async function beginAddition(
  tx: Sql,
  { caller, request, kind }: { caller: Caller; request: Request; kind: FactorKind },
): Promise<UserRow> {
  const user = await lockCaller(tx, caller);
  await requireRoomForFactor(tx, caller);
  await insertAuditEntry(tx, {
    ...auditActor(request, caller),
    action: "factor.begin",
    subject: { type: "user", id: caller.userId },
    details: { kind },
  });
  return user;
}

/**
 * Completes the addition of a factor after its insertion. Ends the user's other sessions, which a stranger may have started with
 * the password alone. Returns the factor, and new recovery codes if the user has none left.
 */
export async function finishAddition(
  tx: Sql,
  deps: Pick<OperationDeps, "boss">,
  added: { caller: Caller; request: Request; user: UserRow; factor: SecondFactorRow },
): Promise<{ factor: SecondFactorRow; recoveryCodes: string[] | null }> {
  const { caller, request, user, factor } = added;
  const { userId, credential } = caller;
  await updateSessionFactorAt(tx, { id: credential.id, isProven: true });
  const ended = await markSessionsRevoked(tx, { userId, exceptId: credential.id });
  const recoveryCodes = (await countRecoveryCodes(tx, userId)) === 0 ? await renewCodes(tx, userId) : null;
  await insertAuditEntry(tx, {
    ...auditActor(request, caller),
    action: "factor.add",
    subject: { type: "second_factor", id: factor.id },
    details: { kind: factor.kind, endedSessions: ended.length },
  });
  await queueFactorMail(tx, deps, { user, request, details: { event: "added", name: factor.name } });
  return { factor, recoveryCodes };
}

export async function renewCodes(tx: Sql, userId: string): Promise<string[]> {
  const codes = mintRecoveryCodes();
  await replaceRecoveryCodes(tx, { userId, hashes: codes.map(hashRecoveryCode) });
  return codes;
}

/** Queues a mail about second factors to the user. Call it in the transaction of the reported change. */
export async function queueFactorMail(
  tx: Sql,
  { boss }: Pick<OperationDeps, "boss">,
  { user, request, details }: { user: UserRow; request: Request; details: FactorNotice },
): Promise<void> {
  const { network, span } = requestContext(request);
  const mail = { kind: "factor_notice", email: user.email, userId: user.id, details, network } as const;
  await queueAccountMail(tx, boss, { ...mail, traceparent: span?.traceparent });
}
