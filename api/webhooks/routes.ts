/** /orgs/{slug}/webhooks: the webhooks of an organization, for its owners and admins. */
import type { BlockList } from "node:net";
import { Elysia } from "elysia";
import { openNetworks } from "../../shared/network/webhook_networks.ts";
import { hasOrgRole, isPersonalCredential } from "../../shared/policy.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { listDeliveries } from "../../sql/webhooks/webhook_deliveries.ts";
import { listWebhooks, type WebhookRow } from "../../sql/webhooks/webhooks.ts";
import { requireOwnOrg } from "../accounts/organizations/require_own_org.ts";
import { OrgParams } from "../accounts/organizations/schemas.ts";
import { access, holdsSecret } from "../http/access.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { rejectQuery } from "../http/query.ts";
import { requestContext } from "../http/request_context.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { failsWith } from "../openapi/types.ts";
import {
  changeWebhook,
  createWebhook,
  removeWebhook,
  requireWebhook,
  rotateSecret,
  testWebhook,
} from "./manage.ts";
import {
  CreatedWebhook,
  DeliveryList,
  NewWebhook,
  OneDelivery,
  OneWebhook,
  RotatedWebhook,
  WebhookList,
  WebhookParams,
  WebhookUpdate,
} from "./webhook_schemas.ts";
import { parseWebhookUrl } from "./webhook_url.ts";

const TAG = "Events";
const ORG_FAILURES = ["ORG_ACCESS_DENIED", "INSUFFICIENT_ORG_ROLE", "ORG_NOT_FOUND"] as const;
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
const FAILURES = [...ORG_FAILURES, ["NOT_FOUND", { reason: "webhook" }]] as const;
const WRITE_FAILURES = [...FAILURES, "KEY_KIND_FORBIDDEN"] as const;
const QUOTA = ["QUOTA_EXCEEDED", { quota: "webhooks", limit: 10 }] as const;
const PRIVATE_URL = [
  "UNPROCESSABLE_ENTITY",
  { errors: [{ path: "url", message: "its address is private, local or reserved" }] },
] as const;

function present({ id, url, types, disabledAt, createdAt, updatedAt }: WebhookRow) {
  return { id, url, types, enabled: disabledAt === null, disabledAt, createdAt, updatedAt };
}

export interface WebhookDeps {
  sql: Pool;
  config: Pick<Config, "webhookAllowedNetworks">;
}

export function webhookRoutes({ sql, config }: WebhookDeps) {
  const networks = openNetworks(config.webhookAllowedNetworks);
  const requireAdmin = async (caller: Caller, request: Request, slug: string) => {
    const org = await requireOwnOrg(sql, { caller, slug });
    requestContext(request).orgId = org.id;
    requireAllowed(hasOrgRole(org.role, "admin"));
    // A webhook is a way out for data.
    if (!READS.has(request.method)) requireAllowed(isPersonalCredential(caller.credential));
    rejectQuery(request);
    return org;
  };
  return new Elysia({ prefix: "/orgs/:slug/webhooks" })
    .use(access)
    .post(
      "/",
      async ({ caller, request, params, body, status }) => {
        const org = await requireAdmin(caller, request, params.slug);
        const url = parseWebhookUrl(body.url, networks);
        const types = [...new Set(body.types)];
        const actor = auditActor(request, caller);
        const { secret, ...row } = await createWebhook(sql, { org, actor, url, types });
        return status(201, { data: { ...present(row), secret } });
      },
      {
        access: "caller",
        params: OrgParams,
        body: NewWebhook,
        response: { 201: CreatedWebhook },
        detail: {
          tags: [TAG],
          ...holdsSecret(),
          operationId: "createWebhook",
          summary: "Create a webhook",
          description:
            "For owners and admins. Delivers events of the organization, and of models, to the URL, signed as Standard Webhooks " +
            "says. An organization has up to 10 webhooks.",
          ...failsWith("VALIDATION_ERROR", ...ORG_FAILURES, "KEY_KIND_FORBIDDEN", QUOTA, PRIVATE_URL),
        },
      },
    )
    .get(
      "/",
      async ({ caller, request, params }) => {
        const { id } = await requireAdmin(caller, request, params.slug);
        return { data: { webhooks: (await listWebhooks(sql, id)).map(present) } };
      },
      {
        access: "caller",
        params: OrgParams,
        response: { 200: WebhookList },
        detail: {
          tags: [TAG],
          operationId: "listWebhooks",
          summary: "List webhooks",
          description: "For owners and admins. Secrets are not shown.",
          ...failsWith("VALIDATION_ERROR", ...ORG_FAILURES),
        },
      },
    )
    .use(oneWebhookRoutes({ sql, networks, requireAdmin }));
}

/** The routes of one webhook. */
function oneWebhookRoutes(deps: {
  sql: Pool;
  networks: BlockList;
  requireAdmin(caller: Caller, request: Request, slug: string): Promise<{ id: string; slug: string }>;
}) {
  const { sql, networks, requireAdmin } = deps;
  return new Elysia({ prefix: "/:id" })
    .use(access)
    .get(
      "/",
      async ({ caller, request, params }) => {
        const org = await requireAdmin(caller, request, params.slug);
        return { data: present(await requireWebhook(sql, { id: params.id, org })) };
      },
      {
        access: "caller",
        params: WebhookParams,
        response: { 200: OneWebhook },
        detail: {
          tags: [TAG],
          operationId: "getWebhook",
          summary: "Get a webhook",
          description: "For owners and admins.",
          ...failsWith("VALIDATION_ERROR", ...FAILURES),
        },
      },
    )
    .patch(
      "/",
      async ({ caller, request, params, body }) => {
        const org = await requireAdmin(caller, request, params.slug);
        const { url, types, enabled } = body;
        const change = {
          ...(url === undefined ? {} : { url: parseWebhookUrl(url, networks) }),
          ...(types === undefined ? {} : { types: [...new Set(types)] }),
          ...(enabled === undefined ? {} : { enabled }),
        };
        const actor = auditActor(request, caller);
        return { data: present(await changeWebhook(sql, { id: params.id, org, actor, change })) };
      },
      {
        access: "caller",
        params: WebhookParams,
        body: WebhookUpdate,
        response: { 200: OneWebhook },
        detail: {
          tags: [TAG],
          operationId: "updateWebhook",
          summary: "Update a webhook",
          description:
            "For owners and admins. Omitted fields stay unchanged. Enabling a disabled webhook delivers events from now on; " +
            "GET /events has those it missed.",
          ...failsWith("VALIDATION_ERROR", ...WRITE_FAILURES, PRIVATE_URL),
        },
      },
    )
    .delete(
      "/",
      async ({ caller, request, params, set }) => {
        const org = await requireAdmin(caller, request, params.slug);
        await removeWebhook(sql, { id: params.id, org, actor: auditActor(request, caller) });
        set.status = 204;
      },
      {
        access: "caller",
        params: WebhookParams,
        detail: {
          tags: [TAG],
          operationId: "deleteWebhook",
          summary: "Delete a webhook",
          description:
            "For owners and admins. Pending deliveries are not sent; one that is being sent may arrive.",
          responses: { 204: { description: "Deleted" } },
          ...failsWith("VALIDATION_ERROR", ...WRITE_FAILURES),
        },
      },
    )
    .use(rotateRoutes(deps))
    .use(deliveryRoutes(deps));
}

function rotateRoutes({ sql, requireAdmin }: Parameters<typeof oneWebhookRoutes>[0]) {
  return new Elysia().use(access).post(
    "/rotate",
    async ({ caller, request, params }) => {
      const org = await requireAdmin(caller, request, params.slug);
      const actor = auditActor(request, caller);
      const { row, secret, retiredUntil } = await rotateSecret(sql, { id: params.id, org, actor });
      return { data: { ...present(row), secret, previousSecretExpiresAt: retiredUntil } };
    },
    {
      access: "caller",
      params: WebhookParams,
      response: { 200: RotatedWebhook },
      detail: {
        tags: [TAG],
        ...holdsSecret(),
        operationId: "rotateWebhookSecret",
        summary: "Replace the secret of a webhook",
        description:
          "For owners and admins. Returns a new secret. For 24 hours, the old one signs every delivery too, so give the " +
          "receiver the new one in this time. Up to 5 times in 24 hours.",
        ...failsWith("VALIDATION_ERROR", ...WRITE_FAILURES, [
          "QUOTA_EXCEEDED",
          { quota: "secrets", limit: 5 },
        ]),
      },
    },
  );
}

/** What is sent to a webhook. */
function deliveryRoutes({ sql, requireAdmin }: Parameters<typeof oneWebhookRoutes>[0]) {
  return new Elysia()
    .use(access)
    .post(
      "/test",
      async ({ caller, request, params, status }) => {
        const org = await requireAdmin(caller, request, params.slug);
        const actor = auditActor(request, caller);
        return status(201, { data: await testWebhook(sql, { id: params.id, org, actor }) });
      },
      {
        access: "caller",
        params: WebhookParams,
        response: { 201: OneDelivery },
        detail: {
          tags: [TAG],
          operationId: "testWebhook",
          summary: "Deliver a test event",
          description:
            "For owners and admins. Queues an event of type `webhook.test`; list the deliveries for the outcome.",
          ...failsWith("VALIDATION_ERROR", ...WRITE_FAILURES, [
            "QUOTA_EXCEEDED",
            { quota: "deliveries", limit: 1000 },
          ]),
        },
      },
    )
    .get(
      "/deliveries",
      async ({ caller, request, params }) => {
        const org = await requireAdmin(caller, request, params.slug);
        const { id } = await requireWebhook(sql, { id: params.id, org });
        return { data: { deliveries: await listDeliveries(sql, id) } };
      },
      {
        access: "caller",
        params: WebhookParams,
        response: { 200: DeliveryList },
        detail: {
          tags: [TAG],
          operationId: "listWebhookDeliveries",
          summary: "List the deliveries of a webhook",
          description:
            "For owners and admins. The last 100, newest first, with the outcome of the last attempt.",
          ...failsWith("VALIDATION_ERROR", ...FAILURES),
        },
      },
    );
}
