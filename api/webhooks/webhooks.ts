/** /orgs/{slug}/webhooks: the webhooks of an organization, for its owners and admins. */
import { randomBytes } from "node:crypto";
import type { BlockList } from "node:net";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { openNetworks } from "../../shared/network/networks.ts";
import { findAddressProblem } from "../../shared/network/webhook_destination.ts";
import { lockOrg } from "../../sql/accounts/orgs.ts";
import {
  deleteWebhook as deleteRow,
  insertWebhook,
  listWebhooks as listRows,
  RETIRED_SECRETS_MAX,
  rotateWebhookSecret as rotateRow,
  updateWebhook as updateRow,
} from "../../sql/webhooks/webhooks.ts";
import { ORG_ROLE_FAILURES, OrgParams } from "../accounts/organizations/schemas.ts";
import { requireOrgRole } from "../accounts/require_own_org.ts";
import { operation, reply } from "../http/operation.ts";
import { invalidField } from "../http/validation_problems.ts";
import {
  auditWebhook,
  changeWebhook,
  presentWebhook,
  requireWebhook,
  requireWriter,
  WEBHOOK_FAILURES,
  WEBHOOK_OPERATION,
  WEBHOOK_WRITE_FAILURES,
} from "./own_webhook.ts";
import {
  CreatedWebhook,
  NewWebhook,
  OneWebhook,
  RotatedWebhook,
  WebhookAddress,
  WebhookList,
  WebhookUpdate,
} from "./webhook_schemas.ts";

/** Webhooks per organization. */
export const WEBHOOKS_MAX = 10;
const URL_MAX_LENGTH = 2048;

const PRIVATE_URL = [
  "UNPROCESSABLE_ENTITY",
  { errors: [{ path: "url", message: "its address is private, local or reserved" }] },
] as const;

export const createWebhook = operation(
  {
    ...WEBHOOK_OPERATION,
    id: "createWebhook",
    method: "POST",
    path: "/api/v1/orgs/{slug}/webhooks",
    secret: true,
    summary: "Create a webhook",
    description:
      "For owners and admins. Delivers events of the organization, and of models, to the URL, signed as Standard Webhooks " +
      "says. An organization has up to 10 webhooks.",
    params: OrgParams,
    body: NewWebhook,
    response: { 201: CreatedWebhook },
    fails: [
      ...ORG_ROLE_FAILURES,
      "KEY_KIND_FORBIDDEN",
      ["QUOTA_EXCEEDED", { quota: "webhooks", limit: WEBHOOKS_MAX }],
      PRIVATE_URL,
    ],
  },
  async ({ params: { slug }, body, caller, request }, deps) => {
    const { org, actor } = await requireWriter(deps.sql, { caller, request, slug });
    const url = parseWebhookUrl(body.url, openNetworks(deps.config.webhookAllowedNetworks));
    const types = [...new Set(body.types)];
    const secret = newSecret();
    const row = await deps.writeInTurn(request, async (tx) => {
      await lockOrg(tx, org.id);
      if ((await listRows(tx, org.id)).length >= WEBHOOKS_MAX) {
        throw new ApiError("QUOTA_EXCEEDED", { details: { quota: "webhooks", limit: WEBHOOKS_MAX } });
      }
      const inserted = await insertWebhook(tx, { orgId: org.id, url, types, secret });
      await auditWebhook(tx, actor, { row: inserted, action: "webhook.create" });
      return inserted;
    });
    return reply(201, { data: { ...presentWebhook(row), secret } });
  },
);

export const listWebhooks = operation(
  {
    ...WEBHOOK_OPERATION,
    id: "listWebhooks",
    method: "GET",
    path: "/api/v1/orgs/{slug}/webhooks",
    summary: "List webhooks",
    description: "For owners and admins. Secrets are not shown.",
    params: OrgParams,
    response: { 200: WebhookList },
    fails: ORG_ROLE_FAILURES,
  },
  async ({ params: { slug }, caller, request }, { sql }) => {
    const { id } = await requireOrgRole(sql, { caller, request, slug, role: "admin" });
    return reply(200, { data: { webhooks: (await listRows(sql, id)).map(presentWebhook) } });
  },
);

export const getWebhook = operation(
  {
    ...WEBHOOK_OPERATION,
    id: "getWebhook",
    method: "GET",
    path: "/api/v1/orgs/{slug}/webhooks/{id}",
    summary: "Get a webhook",
    description: "For owners and admins.",
    params: WebhookAddress,
    response: { 200: OneWebhook },
    fails: WEBHOOK_FAILURES,
  },
  async ({ params: { slug, id }, caller, request }, { sql }) => {
    const org = await requireOrgRole(sql, { caller, request, slug, role: "admin" });
    return reply(200, { data: presentWebhook(await requireWebhook(sql, { id, org })) });
  },
);

export const updateWebhook = operation(
  {
    ...WEBHOOK_OPERATION,
    id: "updateWebhook",
    method: "PATCH",
    path: "/api/v1/orgs/{slug}/webhooks/{id}",
    summary: "Update a webhook",
    description:
      "For owners and admins. Omitted fields stay unchanged. Enabling a disabled webhook delivers events from now on; " +
      "GET /events has those it missed.",
    params: WebhookAddress,
    body: WebhookUpdate,
    response: { 200: OneWebhook },
    fails: [...WEBHOOK_WRITE_FAILURES, PRIVATE_URL],
  },
  async ({ params: { slug, id }, body, caller, request }, deps) => {
    const writer = await requireWriter(deps.sql, { caller, request, slug });
    const { url, types, enabled } = body;
    const change = {
      ...(url === undefined
        ? {}
        : { url: parseWebhookUrl(url, openNetworks(deps.config.webhookAllowedNetworks)) }),
      ...(types === undefined ? {} : { types: [...new Set(types)] }),
      ...(enabled === undefined ? {} : { enabled }),
    };
    const write = { ...writer, id, action: "webhook.update" };
    const { row } = await changeWebhook(deps, write, async (tx, webhook) => {
      const changed = Object.keys(change).join(", ");
      return { row: changed === "" ? webhook : await updateRow(tx, { ...change, id: webhook.id }), changed };
    });
    return reply(200, { data: presentWebhook(row) });
  },
);

export const deleteWebhook = operation(
  {
    ...WEBHOOK_OPERATION,
    id: "deleteWebhook",
    method: "DELETE",
    path: "/api/v1/orgs/{slug}/webhooks/{id}",
    summary: "Delete a webhook",
    description: "For owners and admins. Pending deliveries are not sent; one that is being sent may arrive.",
    params: WebhookAddress,
    response: { 204: null },
    fails: WEBHOOK_WRITE_FAILURES,
  },
  async ({ params: { slug, id }, caller, request }, deps) => {
    const writer = await requireWriter(deps.sql, { caller, request, slug });
    await changeWebhook(deps, { ...writer, id, action: "webhook.delete" }, async (tx, row) => {
      await deleteRow(tx, row.id);
      return { row };
    });
    return reply(204, null);
  },
);

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
  async ({ params: { slug, id }, caller, request }, deps) => {
    const writer = await requireWriter(deps.sql, { caller, request, slug });
    const secret = newSecret();
    const write = { ...writer, id, action: "webhook.rotate" };
    const { row } = await changeWebhook(deps, write, async (tx, webhook) => {
      const rotated = await rotateRow(tx, { id: webhook.id, secret });
      if (rotated) return { row: rotated };
      throw new ApiError("QUOTA_EXCEEDED", { details: { quota: "secrets", limit: RETIRED_SECRETS_MAX } });
    });
    const data = { ...presentWebhook(row), secret, previousSecretExpiresAt: row.retiredUntil };
    return reply(200, { data });
  },
);

function newSecret(): string {
  return `whsec_${randomBytes(24).toString("base64")}`;
}

/**
 * Parses the URL of a webhook. Throws VALIDATION_ERROR for an invalid URL, and UNPROCESSABLE_ENTITY for an address that gets no
 * deliveries. Host names are resolved and checked again at every delivery.
 */
export function parseWebhookUrl(text: string, networks: BlockList): string {
  const url = text.length <= URL_MAX_LENGTH ? URL.parse(text) : null;
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
