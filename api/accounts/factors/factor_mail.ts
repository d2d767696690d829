/** Queues the mails that tell users about their second factors. */

import type { FactorNotice } from "../../../shared/account_mail_kinds.ts";
import { queueAccountMail } from "../../../sql/accounts/account_mails.ts";
import { findUser } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";

export type MailDeps = Pick<OperationDeps, "boss">;

/** Queues a mail to the user. Call it in the transaction of what it tells. */
export async function queueFactorMail(
  tx: Sql,
  { boss }: MailDeps,
  { userId, request, details }: { userId: string; request: Request; details: FactorNotice },
): Promise<void> {
  const user = await findUser(tx, userId);
  if (!user) return;
  const { network, span } = requestContext(request);
  const traceparent = span?.traceparent;
  await queueAccountMail(tx, boss, {
    kind: "factor_notice",
    email: user.email,
    userId,
    details,
    network,
    traceparent,
  });
}
