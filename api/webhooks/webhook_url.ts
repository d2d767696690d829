/** Reads the URL of a webhook. Where webhooks may lead is in shared/network/webhook_destination.ts. */
import type { BlockList } from "node:net";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { findAddressProblem } from "../../shared/network/webhook_destination.ts";
import { invalidField } from "../http/validation_problems.ts";

const MAX_LENGTH = 2048;

/**
 * Parses the URL of a webhook. Throws VALIDATION_ERROR for a malformed one, and UNPROCESSABLE_ENTITY for one that is never
 * delivered to. Names are resolved and checked again with every delivery.
 */
export function parseWebhookUrl(text: string, networks: BlockList): string {
  const url = text.length <= MAX_LENGTH ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.hash !== "") {
    throw invalidField("url", "must be an https URL of up to 2,048 characters without a fragment");
  }
  if (url.username !== "" || url.password !== "") {
    throw invalidField("url", "must not have a user or password");
  }
  const reason = findAddressProblem(url, networks);
  if (reason === null) return url.href;
  throw new ApiError("UNPROCESSABLE_ENTITY", {
    message: TEXTS.UNPROCESSABLE_ENTITY.webhookUrl(reason),
    details: { errors: [{ path: "url", message: reason }] },
  });
}
