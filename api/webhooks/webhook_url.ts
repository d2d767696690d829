/** The address of a webhook: what is wrong with it, as far as it shows before its name is resolved. */
import { type BlockList, isIP } from "node:net";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { isDeliverable, isLoopbackHost } from "../../shared/network/public_address.ts";
import { invalidInput } from "../http/validation_problems.ts";

const MAX_LENGTH = 2048;
/** Receivers listen there or at 1024 and above; other services, such as mail, below. */
const WEB_PORTS: readonly number[] = [80, 443];

/**
 * Parses the URL of a webhook. Throws VALIDATION_ERROR for a malformed one, and UNPROCESSABLE_ENTITY for one that is never
 * delivered to. Names are resolved and checked again with every delivery.
 */
export function parseWebhookUrl(text: string, networks: BlockList): string {
  const url = text.length <= MAX_LENGTH ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.hash !== "") {
    throw invalidInput([
      { path: "url", message: "must be an https URL of up to 2,048 characters without a fragment" },
    ]);
  }
  if (url.username !== "" || url.password !== "") {
    throw invalidInput([{ path: "url", message: "must not have a user or password" }]);
  }
  const port = url.port === "" ? 443 : Number(url.port);
  if (port < 1024 && !WEB_PORTS.includes(port)) {
    throw undeliverable("its port must be 80, 443, or 1024 or above");
  }
  requireDeliverableHost(url, networks);
  return url.href;
}

function requireDeliverableHost(url: URL, networks: BlockList): void {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isTls = url.protocol === "https:";
  if (isIP(host) !== 0) {
    if (isDeliverable(networks, host, { isTls })) return;
    throw undeliverable(
      isDeliverable(networks, host, { isTls: true })
        ? "it must begin with https"
        : "its address is private, local or reserved",
    );
  }
  const hasNetworks = networks.rules.length > 0;
  if (isLoopbackHost(host) && !hasNetworks) throw undeliverable("it names this machine");
  if (!isTls && !hasNetworks) throw undeliverable("it must begin with https");
}

function undeliverable(reason: string): ApiError {
  return new ApiError("UNPROCESSABLE_ENTITY", {
    message: TEXTS.UNPROCESSABLE_ENTITY.webhookUrl(reason),
    details: { errors: [{ path: "url", message: reason }] },
  });
}
