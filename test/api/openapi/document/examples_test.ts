/** Every operation works with the values that Swagger UI prefills, on a service with the demo's data. */
import { expect, test } from "bun:test";
import type { OpenApiParameter } from "../../../../api/openapi/types.ts";
import { seedSmallDemo } from "../../../helpers/demo.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { type DescribedOperation, listOperations, readDocument } from "../../../helpers/http/openapi.ts";
import { loadBundledCatalog } from "../../../helpers/models/catalog.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";

/** The writes with their expected statuses, ordered so that the resources of each write exist. */
const WRITES: readonly (readonly [operationId: string, status: number])[] = [
  ["updateOwnProfile", 200],
  ["updateOrganization", 200],
  ["getUsers", 200],
  ["computeCost", 200],
  ["createKey", 201],
  ["validateDefinition", 200],
  ["createDefinitions", 200],
  ["createDefinition", 201],
  ["updateDefinition", 200],
  ["deleteDefinition", 200],
  ["createDefinition", 201],
  ["retranslateDefinition", 200],
  ["publishDefinition", 200],
  // Only definitions that are older than the translator lack Markdown. The demo has no such definition.
  ["upgradeDefinition", 409],
  ["deprecateDefinition", 200],
  ["archiveDefinition", 200],
  ["forkDefinition", 201],
  ["queueExportJob", 201],
  ["createWebhook", 201],
  ["createInvitation", 201],
  ["updateMember", 200],
  ["removeMember", 204],
  ["deleteProject", 200],
  ["restoreProject", 200],
  ["updateProject", 200],
  ["createProject", 201],
  ["createOrganization", 201],
  ["deleteOrganization", 200],
  ["restoreOrganization", 200],
  ["signUp", 202],
  ["requestPasswordReset", 202],
];

/**
 * Requests that fail with the prefilled values, and their statuses. Each needs the id of a resource that the caller
 * must create first, or a secret that only the caller knows.
 */
const NEED_A_VALUE: readonly (readonly [operationId: string, status: number])[] = [
  ["beginTotp", 400],
  ["confirmTotp", 404],
  ["beginPasskey", 400],
  ["addPasskey", 404],
  ["renameFactor", 404],
  ["removeFactor", 404],
  ["renewRecoveryCodes", 422],
  ["beginVerification", 422],
  ["verifyFactor", 422],
  ["beginSecondStep", 401],
  ["signInWithSecondFactor", 401],
  ["revokeKey", 404],
  ["revokeSession", 404],
  ["revokeInvitation", 404],
  ["previewInvitation", 400],
  ["acceptInvitation", 400],
  ["getExportJob", 404],
  ["downloadExportJob", 404],
  ["cancelExportJob", 404],
  ["getWebhook", 404],
  ["updateWebhook", 404],
  ["deleteWebhook", 404],
  ["testWebhook", 404],
  ["rotateWebhookSecret", 404],
  ["listWebhookDeliveries", 404],
  ["login", 401],
  ["changePassword", 401],
  ["requestEmailChange", 401],
  ["confirmEmailChange", 400],
  ["confirmSignUp", 400],
  ["resetPassword", 400],
];

/** Values that the caller enters in place of the prefilled ones. */
type Values = Readonly<Record<string, string>>;

interface Demo {
  api: TestApp;
  /** The session token of `demo-owner`. */
  owner: string;
  /** The session token of `demo-platform-admin`. */
  platformAdmin: string;
  operations: ReadonlyMap<string, DescribedOperation>;
}

async function signIn(api: TestApp, username: string): Promise<string> {
  const [user] = await api.db.sql<{ id: string }[]>`select id from users where username = ${username}`;
  if (!user) throw new Error(`Cannot find the demo user "${username}"`);
  return (await api.make.session({ userId: user.id })).token;
}

async function openDemo(): Promise<Demo & AsyncDisposable> {
  const api = await openTestApp();
  await seedSmallDemo(api.db.sql);
  await loadBundledCatalog(api.db.sql);
  const owner = await signIn(api, "demo-owner");
  const platformAdmin = await signIn(api, "demo-platform-admin");
  const described = listOperations(await readDocument(api));
  const operations = new Map(described.map((given) => [given.operation.operationId ?? "", given]));
  return { api, owner, platformAdmin, operations, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

/** Returns the value that Swagger UI prefills for a parameter, or undefined if the field is empty. */
function prefillOf({ example, schema }: OpenApiParameter): unknown {
  const { default: unset, example: inner } = (schema ?? {}) as { default?: unknown; example?: unknown };
  return example ?? inner ?? unset;
}

/** Builds the request that Swagger UI sends if the caller enters only `values`. */
function prefilledRequest({ path, operation }: DescribedOperation, values: Values) {
  const filled = (place: OpenApiParameter["in"]): [string, string][] =>
    operation.parameters.flatMap((parameter) => {
      const value = parameter.in === place ? (values[parameter.name] ?? prefillOf(parameter)) : undefined;
      return value === undefined ? [] : [[parameter.name, String(value)]];
    });
  const inPath = new Map(filled("path"));
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(inPath.get(name) ?? ""),
  );
  const body = operation.requestBody?.content["application/json"]?.example;
  return {
    path: `${address}?${new URLSearchParams(filled("query"))}`,
    headers: Object.fromEntries(filled("header")),
    ...(body === undefined ? {} : { body }),
  };
}

/** Sends the prefilled request of an operation. */
async function send(
  { api, owner, operations }: Demo,
  operationId: string,
  { key = owner, ...values }: Values = {},
): Promise<Response> {
  const described = operations.get(operationId);
  if (!described) throw new Error(`Cannot find the operation "${operationId}" in the document`);
  const { path, ...request } = prefilledRequest(described, values);
  return await api.request(path, { method: described.method, key, ...request });
}

async function expectStatus(sent: Promise<Response>, operationId: string, status: number): Promise<Response> {
  const response = await sent;
  const text = response.ok ? "" : await response.clone().text();
  expect([operationId, response.status, text]).toEqual([operationId, status, text]);
  return response;
}

test("every prefilled request returns its expected status", async () => {
  await using demo = await openDemo();
  const tried = new Set<string>();
  const reads = [...demo.operations].filter(([, { method }]) => method === "GET").map(([id]) => id);
  const excepted = NEED_A_VALUE.map(([id]) => id);
  const working = reads.filter((id) => !excepted.includes(id)).map((id) => [id, 200] as const);
  for (const [id, status] of [...working, ...WRITES, ...NEED_A_VALUE]) {
    const response = await expectStatus(send(demo, id), id, status);
    await response.body?.cancel();
    tried.add(id);
  }
  const execution = send(demo, "recordExecution", { key: demo.platformAdmin });
  await expectStatus(execution, "recordExecution", 201);
  await expectStatus(send(demo, "logout"), "logout", 204);
  const untried = [...demo.operations.keys()].filter((id) => !tried.has(id));
  expect(untried.toSorted()).toEqual(["logout", "recordExecution"]);
});

test("prefilled requests for jobs, keys, webhooks and sessions succeed with ids of the caller's own resources", async () => {
  await using demo = await openDemo();
  await using runner = await openTestRunner(demo.api);
  const queued = await send(demo, "queueExportJob");
  const { job } = (await queued.json()) as { job: { id: string } };
  await runner.build(job.id);
  await expectStatus(send(demo, "getExportJob", { job_id: job.id }), "getExportJob", 200);
  await expectStatus(send(demo, "downloadExportJob", { job_id: job.id }), "downloadExportJob", 200);
  const next = (await (await send(demo, "queueExportJob")).json()) as { job: { id: string } };
  await expectStatus(send(demo, "cancelExportJob", { job_id: next.job.id }), "cancelExportJob", 200);
  const created = (await (await send(demo, "createKey")).json()) as { data: { apiKey: { id: string } } };
  await expectStatus(send(demo, "revokeKey", { id: created.data.apiKey.id }), "revokeKey", 204);
  const webhook = (await (await send(demo, "createWebhook")).json()) as { data: { id: string } };
  for (const [id, status] of [
    ["getWebhook", 200],
    ["updateWebhook", 200],
    ["testWebhook", 201],
    ["rotateWebhookSecret", 200],
    ["listWebhookDeliveries", 200],
    ["deleteWebhook", 204],
  ] as const) {
    await expectStatus(send(demo, id, { id: webhook.data.id }), id, status);
  }
  const listed = await send(demo, "listSessions");
  const { data } = (await listed.json()) as { data: { sessions: { id: string }[] } };
  await expectStatus(send(demo, "revokeSession", { id: data.sessions[0]?.id ?? "" }), "revokeSession", 204);
});
