/** POST …/rotate: another secret. The old one signs beside it for a day. */
import { randomBytes } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import { isUuid } from "../../shared/uuid.ts";
import { RETIRED_SECRETS_MAX, rotateWebhookSecret as rotateRow } from "../../sql/webhooks/webhooks.ts";
import { auditActor } from "../http/audit_actor.ts";
import { operation, reply } from "../http/operation.ts";
import {
  auditWebhook,
  presentWebhook,
  requireWebhookRow,
  requireWritableOrg,
  WEBHOOK_OPERATION,
  WEBHOOK_WRITE_FAILURES,
} from "./own_webhook.ts";
import { RotatedWebhook, WebhookAddress } from "./webhook_schemas.ts";

export function newSecret(): string {
  return `whsec_${randomBytes(24).toString("base64")}`;
}

export const rotateWebhookSecret = operation(
  {
    ...WEBHOOK_OPERATION,
    id: "rotateWebhookSecret",
    method: "POST",
    path: "/api/v1/orgs/{slug}/webhooks/{id}/rotate",
    secret: true,
    summary: "Replace the secret of a webhook",
    description:
      "For owners and admins. Returns a new secret. For 24 hours, the old one signs every delivery too, so give the " +
      "receiver the new one in this time. Up to 5 times in 24 hours.",
    params: WebhookAddress,
    response: { 200: RotatedWebhook },
    fails: [...WEBHOOK_WRITE_FAILURES, ["QUOTA_EXCEEDED", { quota: "secrets", limit: RETIRED_SECRETS_MAX }]],
  },
  async ({ params: { slug, id }, caller, request }, { sql }) => {
    const org = await requireWritableOrg(sql, { caller, request, slug });
    const secret = newSecret();
    const { row, retiredUntil } = await sql.begin(async (tx) => {
      const rotated = requireWebhookRow(
        isUuid(id) ? await rotateRow(tx, { id, orgId: org.id, secret }) : null,
        org,
      );
      if (rotated === "full") {
        throw new ApiError("QUOTA_EXCEEDED", { details: { quota: "secrets", limit: RETIRED_SECRETS_MAX } });
      }
      await auditWebhook(tx, auditActor(request, caller), { row: rotated.row, action: "webhook.rotate" });
      return rotated;
    });
    return reply(200, { data: { ...presentWebhook(row), secret, previousSecretExpiresAt: retiredUntil } });
  },
);
