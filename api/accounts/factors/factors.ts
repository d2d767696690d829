/** GET, PATCH and DELETE /auth/factors, and POST /auth/factors/recovery-codes: the caller's own second factors. */
import { Type } from "@sinclair/typebox";
import { Count, data, Instant, listOf, Nullable, requestBody } from "../../../shared/schemas.ts";
import { isUuid } from "../../../shared/uuid.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import {
  countRecoveryCodes,
  deleteSecondFactor,
  existsSecondFactor,
  listSecondFactors,
  replaceRecoveryCodes,
  updateFactorName,
} from "../../../sql/accounts/second_factors.ts";
import {
  findSessionFactorAt,
  markSessionsRevoked,
  updateSessionFactorAt,
} from "../../../sql/accounts/sessions.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { operation, reply } from "../../http/operation.ts";
import { notFound } from "../../http/require_visible.ts";
import { checkTexts, labelProblem } from "../profile_fields.ts";
import { lockCaller, noFactor, requireRecentFactor } from "../require_proof.ts";
import { OWN_ACCOUNT } from "../schemas.ts";
import { queueFactorMail, renewCodes } from "./change_factors.ts";
import { Factor, FactorName, RecoveryCodes } from "./factor_schemas.ts";

const PARAMS = {
  id: Type.String({ description: "The factor's id", examples: ["7b1f4f0a-93c2-4b8e-8f55-0d5c3f0f2a61"] }),
};

export const listFactors = operation(
  {
    ...OWN_ACCOUNT,
    id: "listFactors",
    method: "GET",
    path: "/api/v1/auth/factors",
    summary: "List your second factors",
    description: "Oldest first, with the number of unused recovery codes.",
    response: {
      200: data(
        {
          factors: listOf(Factor),
          recoveryCodesLeft: Count,
          provenAt: Nullable(Instant(), { description: "When this session last used a second factor" }),
        },
        "Your second factors",
      ),
    },
  },
  async ({ caller: { userId, credential } }, { sql }) => {
    const [factors, recoveryCodesLeft, provenAt] = await Promise.all([
      listSecondFactors(sql, userId),
      countRecoveryCodes(sql, userId),
      findSessionFactorAt(sql, credential.id),
    ]);
    return reply(200, { data: { factors, recoveryCodesLeft, provenAt } });
  },
);

export const renameFactor = operation(
  {
    ...OWN_ACCOUNT,
    id: "renameFactor",
    method: "PATCH",
    path: "/api/v1/auth/factors/{id}",
    summary: "Rename one of your second factors",
    description: "Only you see its name.",
    params: PARAMS,
    body: requestBody("FactorUpdate", { name: FactorName }, { name: "Phone" }),
    response: { 200: data({ factor: Factor }, "The factor") },
    fails: [["NOT_FOUND", { reason: "factor" }]],
  },
  async ({ params: { id }, caller, request, body: { name } }, deps) => {
    checkTexts({ name }, { name: labelProblem });
    if (!isUuid(id)) throw notFound("factor");
    const factor = await deps.writeAccountInTurn(request, async (tx) => {
      const renamed = await updateFactorName(tx, { id, userId: caller.userId, name });
      if (!renamed) throw notFound("factor");
      await insertAuditEntry(tx, {
        ...auditActor(request, caller),
        action: "factor.rename",
        subject: { type: "second_factor", id: renamed.id },
      });
      return renamed;
    });
    return reply(200, { data: { factor } });
  },
);

export const removeFactor = operation(
  {
    ...OWN_ACCOUNT,
    id: "removeFactor",
    method: "DELETE",
    path: "/api/v1/auth/factors/{id}",
    summary: "Remove one of your second factors",
    description:
      "Requires a second factor used within 15 minutes. Ends your other sessions. Removing the last " +
      "factor also removes the recovery codes; signing in then requires only the password.",
    params: PARAMS,
    response: { 204: null },
    fails: ["SECOND_FACTOR_REQUIRED", ["NOT_FOUND", { reason: "factor" }]],
  },
  async ({ params: { id }, caller, request }, deps) => {
    const { userId, credential } = caller;
    if (!isUuid(id)) throw notFound("factor");
    await deps.writeAccountInTurn(request, async (tx) => {
      const user = await lockCaller(tx, caller);
      const factor = await deleteSecondFactor(tx, { id, userId });
      if (!factor) throw notFound("factor");
      await requireRecentFactor(tx, caller);
      const { kind, name } = factor;
      // A lost device may still have a session.
      const ended = await markSessionsRevoked(tx, { userId, exceptId: credential.id });
      const isLast = !(await existsSecondFactor(tx, userId));
      if (isLast) {
        await replaceRecoveryCodes(tx, { userId, hashes: [] });
        await updateSessionFactorAt(tx, { id: credential.id, isProven: false });
      }
      await insertAuditEntry(tx, {
        ...auditActor(request, caller),
        action: "factor.remove",
        subject: { type: "second_factor", id: factor.id },
        details: { kind, endedSessions: ended.length, isLast },
      });
      await queueFactorMail(tx, deps, { user, request, details: { event: "removed", name, isLast } });
    });
    deps.callers.forget(userId);
    return reply(204, null);
  },
);

export const renewRecoveryCodes = operation(
  {
    ...OWN_ACCOUNT,
    id: "renewRecoveryCodes",
    method: "POST",
    path: "/api/v1/auth/factors/recovery-codes",
    summary: "Replace your recovery codes",
    description: "Requires a second factor used within 15 minutes. The old codes stop working.",
    response: { 201: data({ recoveryCodes: RecoveryCodes }, "Ten new codes") },
    secret: true,
    fails: ["SECOND_FACTOR_REQUIRED", "UNPROCESSABLE_ENTITY"],
  },
  async ({ caller, request }, deps) => {
    const { userId } = caller;
    const recoveryCodes = await deps.writeAccountInTurn(request, async (tx) => {
      const user = await lockCaller(tx, caller);
      if (!(await existsSecondFactor(tx, userId))) throw noFactor();
      await requireRecentFactor(tx, caller);
      const codes = await renewCodes(tx, userId);
      await insertAuditEntry(tx, {
        ...auditActor(request, caller),
        action: "factor.renew_codes",
        subject: { type: "user", id: userId },
      });
      await queueFactorMail(tx, deps, { user, request, details: { event: "codes_renewed" } });
      return codes;
    });
    return reply(201, { data: { recoveryCodes } });
  },
);
