/** Queues mails that anyone can request, limited per network. */
import { Type } from "@sinclair/typebox";
import type { ApiError } from "../../../shared/errors.ts";
import {
  findAccountMailWait,
  type NewAccountMail,
  queueAccountMail,
} from "../../../sql/accounts/account_mails.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor, auditOrigin } from "../../http/audit_actor.ts";
import { coarseNetworkOf, SITE_SHARE, siteOf } from "../../http/client_address.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { rateLimited } from "../../http/rate_counter.ts";
import { requestContext } from "../../http/request_context.ts";
import { invalidField } from "../../http/validation_problems.ts";

/** Mails per network and hour. */
const HOURLY_MAX = 30;

/**
 * Queues a mail. Does the same work for every address, so that neither the response nor its time reveals whether an account
 * exists. Throws RATE_LIMITED. Call inside a transaction.
 */
export async function requestMail(
  tx: Sql,
  { boss, metrics, now = Date.now }: Pick<OperationDeps, "boss" | "metrics" | "now">,
  { request, mail }: { request: Request; mail: Omit<NewAccountMail, "network" | "traceparent"> },
): Promise<void> {
  const context = requestContext(request);
  const network = coarseNetworkOf(context.address, 64);
  const site = siteOf(context.address);
  const limits = [
    { network, limit: HOURLY_MAX },
    ...(site === null ? [] : [{ network: site, limit: HOURLY_MAX * SITE_SHARE }]),
  ];
  for (const { network, limit } of limits) {
    const waitMs = await findAccountMailWait(tx, { network, limit });
    if (waitMs <= 0) continue;
    metrics.rateLimited.inc({ kind: "account_mail" });
    throw rateLimited({ limit, resetAt: now() + waitMs }, now());
  }
  const id = await queueAccountMail(tx, boss, { ...mail, network, traceparent: context.span?.traceparent });
  const { caller } = context;
  await insertAuditEntry(tx, {
    ...(caller ? auditActor(request, caller) : { actorType: "anonymous", ...auditOrigin(context) }),
    action: "account_mail.request",
    subject: { type: "account_mail", id },
    // Omits the address, because anyone can enter any address.
    details: { kind: mail.kind },
  });
}

export const EXAMPLE_TOKEN = "Q2hhbmdlIG1lIGJlZm9yZSB5b3UgdXNlIG1lLCBwbHM";

/** The token of a link in a mail. The lifetimes of links are in shared/account_mail_kinds.ts. */
export const LinkToken = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "From the link in the email. Works once",
  examples: [EXAMPLE_TOKEN],
});

/** Returns the error for a link that does not work, whatever the reason. */
export function invalidLink(): ApiError {
  return invalidField("token", "is unknown, used or expired: request a new email");
}
