/** The access table: every route in every case that differs, with its access class and a valid request. */

import { agentYaml } from "../definitions/definitions.ts";
import type { AccessName } from "./access_classes.ts";
import { FACTORS } from "./access_factors.ts";
import { type Row, row } from "./access_rows.ts";
import {
  definition,
  definitionId,
  deletedProject,
  emailToken,
  endingOrg,
  foreignKey,
  foreignSession,
  freeName,
  invitationId,
  invitationToken,
  knownPassword,
  livingOrg,
  memberId,
  newName,
  noActiveJob,
  noWebhooks,
  orgSlug,
  otherProject,
  ownKey,
  ownSession,
  projectId,
  projectSlug,
  queuedJob,
  quietNetwork,
  readyJobId,
  resetToken,
  type Subject,
  signUpToken,
  userId,
  webhookId,
} from "./access_scene.ts";

const PUBLISHED = definition("published", "public");
const PRIVATE = definition("published", "private");
const DEPRECATED = definition("deprecated", "public");
const DRAFT = definition("draft", "public");
const publicId = definitionId("published", "public");
const privateId = definitionId("published", "private");

const AUTH = [
  row("POST /auth/login", "everyoneToWrite", 200, {
    body: (_, { scene: { account } }) => ({ email: account.email, password: account.password }),
    audit: "session.create",
  }),
  row("POST /auth/logout", "sessions", 204, { audit: "session.revoke" }),
  row("GET /auth/me", "known", 200),
  row("GET /auth/keys", "sessions", 200),
  row("POST /auth/keys", "sessions", 201, { audit: "key.create" }),
  row("DELETE /auth/keys/:id", "sessions", 204, { of: ownKey, audit: "key.revoke" }),
  row("DELETE /auth/keys/:id", "sessionsOfOthers", 204, { about: "somebody else's", of: foreignKey }),
  row("POST /auth/password", "sessions", 204, {
    of: knownPassword,
    body: (password) => ({ currentPassword: password, newPassword: `${password} indeed` }),
    audit: "password.change",
  }),
  row("POST /auth/sign-up", "everyoneToWrite", 202, {
    of: quietNetwork,
    body: () => ({ email: "new@example.com", username: "new", password: "seven quiet lamps at noon" }),
    audit: "account_mail.request",
    hashesPassword: true,
  }),
  row("POST /auth/sign-up/confirm", "everyoneToWrite", 201, {
    of: signUpToken,
    body: (token) => ({ token, password: "seven quiet lamps at noon" }),
    audit: "user.create",
  }),
  row("POST /auth/email", "sessions", 202, {
    of: knownPassword,
    body: (password) => ({ email: `${freeName()}@example.org`, password }),
    audit: "account_mail.request",
  }),
  row("POST /auth/email/confirm", "everyoneToWrite", 204, {
    of: emailToken,
    body: (token) => ({ token }),
    audit: "email.change",
  }),
  row("POST /auth/password/reset", "everyoneToWrite", 202, {
    of: quietNetwork,
    body: () => ({ email: "somebody@example.com" }),
    audit: "account_mail.request",
  }),
  row("POST /auth/password/reset/confirm", "everyoneToWrite", 204, {
    of: resetToken,
    body: (token) => ({ token, newPassword: "seven quiet lamps at noon" }),
    audit: "password.reset",
    hashesPassword: true,
  }),
  row("GET /auth/sessions", "sessions", 200),
  row("DELETE /auth/sessions/:id", "sessions", 204, { of: ownSession, audit: "session.revoke" }),
  row("DELETE /auth/sessions/:id", "sessionsOfOthers", 204, { about: "somebody else's", of: foreignSession }),
];

const PROJECT = "/export/projects/:project";
const JOBS = "/export/jobs";
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();

const EXPORTS = [
  row("GET /export/datasets", "everyone", 200),
  row(`GET ${PROJECT}/:dataset`, "datasetExporters", 200, { of: projectId, audit: "export.dataset" }),
  row(`GET ${PROJECT}/:dataset`, "datasetExportersOfOrg", 200, {
    about: "by slug",
    of: projectSlug,
    inOrg: true,
    audit: "export.dataset",
  }),
  row(`GET ${PROJECT}/bundle`, "bundleExporters", 200, { of: projectId, audit: "export.bundle" }),
  row(`GET ${PROJECT}/estimate`, "bundleExporters", 200, { of: projectId }),
  ...["deleted", "deleted.csv"].map((dataset) =>
    row(`GET ${PROJECT}/:dataset`, "datasetExporters", 200, {
      about: dataset,
      dataset,
      of: projectId,
      query: `?since=${YESTERDAY}`,
      audit: "export.dataset",
    }),
  ),
  row(`POST ${JOBS}`, "jobQueuers", 201, { of: noActiveJob, inOrg: true, audit: "export_job.queue" }),
  row(`GET ${JOBS}`, "jobListers", 200, { inOrg: true }),
  row(`GET ${JOBS}/:job_id`, "jobReaders", 200, { of: readyJobId }),
  row(`POST ${JOBS}/:job_id/cancel`, "jobCancelers", 200, { of: queuedJob, audit: "export_job.cancel" }),
  row(`GET ${JOBS}/:job_id/download`, "jobDownloaders", 200, {
    of: readyJobId,
    audit: "export_job.download",
  }),
];

const LINE = "/definitions/:type/:name";
const version = "@1.0.0";

/** Reads of one definition. */
const READS: readonly [route: string, how: Pick<Row, "version" | "query">][] = [
  [`GET ${LINE}`, { version }],
  [`GET ${LINE}/dependencies`, { version }],
  [`GET ${LINE}/dependents`, { version }],
  [`GET ${LINE}/executions`, { version }],
  [`GET ${LINE}/forkable`, { version }],
  [`GET ${LINE}/forks`, { version }],
  [`GET ${LINE}/lineage`, { version }],
  [`GET ${LINE}/versions`, {}],
  [`GET ${LINE}/diff`, { query: "?from=1.0.0&to=1.0.0" }],
];

/** Access to reads of a definition, by its status and visibility. The access is the same for every kind of read. */
const SEEN: readonly [about: string, of: Subject, access: AccessName][] = [
  ["of a public one", PUBLISHED, "everyone"],
  ["of a deprecated one", DEPRECATED, "everyone"],
  ["of an archived one", definition("archived", "public"), "everyone"],
  ["of an unlisted one", definition("published", "unlisted"), "everyone"],
  ["of a private one", PRIVATE, "definitionMembers"],
  ["of a private, archived one", definition("archived", "private"), "definitionMembers"],
  ["of a draft", DRAFT, "definitionMembers"],
];

const CONTENT_MODES = ["&format=fields", "&format=unified", "&full=true"];

const DEFINITION_READS = [
  row("GET /definitions", "everyone", 200),
  row("GET /definitions", "members", 200, { about: "of an organization", inOrg: true }),
  row("GET /definitions/translation/version", "everyone", 200),
  row("GET /languages", "everyone", 200),
  row("GET /languages/:id", "everyone", 200, { of: async () => "adl" }),
  ...READS.flatMap(([route, how]) =>
    SEEN.map(([about, of, access]) => row(route, access, 200, { ...how, about, of })),
  ),
  ...READS.flatMap(([route, how]) => [
    row(route, "everyone", 200, {
      ...how,
      about: "of a public one, @org/name",
      of: PUBLISHED,
      isQualified: true,
    }),
    row(route, "definitionMembers", 200, {
      ...how,
      about: "of a private one, @org/name",
      of: PRIVATE,
      isQualified: true,
    }),
  ]),
  ...READS.flatMap(([route, { version: _, ...how }]) => [
    row(route, "everyone", 200, { ...how, about: "of a public one, by id", of: publicId }),
    row(route, "definitionMembers", 200, { ...how, about: "of a private one, by id", of: privateId }),
  ]),
  ...READS.filter(([, how]) => how.version).flatMap(([route]) => [
    row(route, "everyone", 200, { about: "of the latest version of a public one", of: PUBLISHED }),
    row(route, "definitionMembers", 200, { about: "of the latest version of a private one", of: PRIVATE }),
  ]),
  row(`GET ${LINE}`, "members", 200, {
    about: "of a public one, of an organization",
    of: PUBLISHED,
    inOrg: true,
  }),
  ...CONTENT_MODES.flatMap((mode) => {
    const query = `?from=1.0.0&to=1.0.0${mode}`;
    return [
      row(`GET ${LINE}/diff`, "subscribers", 200, {
        about: `of a public one, ${mode}`,
        of: PUBLISHED,
        query,
      }),
      row(`GET ${LINE}/diff`, "subscribedMembers", 200, {
        about: `of a private one, ${mode}`,
        of: PRIVATE,
        query,
      }),
    ];
  }),
];

const yamlOf = (name: string) => ({ yaml: agentYaml(name) });
const reason = "Another one does it better";

/** Writes to an existing definition line. */
const CHANGES: readonly [route: string, ok: 200 | 201, how: Partial<Row>][] = [
  [`PUT ${LINE}`, 200, { of: DRAFT, version, body: () => ({ tags: ["new"] }), audit: "definition.update" }],
  [`DELETE ${LINE}`, 200, { of: DRAFT, version, audit: "definition.delete" }],
  [`POST ${LINE}/publish`, 200, { of: DRAFT, version, audit: "definition.publish" }],
  [
    `POST ${LINE}/deprecate`,
    200,
    { of: PUBLISHED, version, body: () => ({ reason }), audit: "definition.deprecate" },
  ],
  [`POST ${LINE}/archive`, 200, { of: DEPRECATED, version, audit: "definition.archive" }],
  [`POST ${LINE}/retranslate`, 200, { of: PUBLISHED, version, audit: "definition.retranslate" }],
  [`POST ${LINE}/upgrade`, 201, { of: PUBLISHED, body: yamlOf, audit: "definition.upgrade" }],
];

const created = { of: newName, body: yamlOf, audit: "definition.create" };
const forked = { body: () => ({ name: freeName() }), audit: "definition.fork" };
const recorded = { body: () => ({ source: "cli" }), audit: "execution.record" };

const batched = { of: newName, body: (name: string) => ({ definitions: [yamlOf(name)] }) };
const validated = { of: newName, body: (name: string) => ({ type: "agent", ...yamlOf(name) }) };

const DEFINITION_WRITES = [
  row("POST /definitions/batch", "definitionWriters", 201, {
    ...batched,
    inOrg: true,
    audit: "definition.create",
  }),
  row("POST /definitions/batch", "homeWriters", 201, {
    ...batched,
    about: "at home",
    audit: "definition.create",
  }),
  row("POST /definitions/validate", "members", 200, { ...validated, inOrg: true }),
  row("POST /definitions/validate", "known", 200, { ...validated, about: "at home" }),
  row(`POST ${LINE}`, "definitionWriters", 201, { ...created, inOrg: true }),
  row(`POST ${LINE}`, "homeWriters", 201, { ...created, about: "at home" }),
  ...CHANGES.flatMap(([route, ok, how]) => [
    row(route, "definitionWriters", ok, { ...how, inOrg: true }),
    row(route, "lineWriters", ok, { ...how, about: "without an organization" }),
    row(route, how.of === DRAFT ? "lineWriters" : "definitionWriters", ok, {
      ...how,
      about: "@org/name",
      isQualified: true,
    }),
  ]),
  row(`POST ${LINE}`, "definitionWriters", 201, { ...created, about: "@org/name", isQualified: true }),
  row(`POST ${LINE}/fork`, "definitionWriters", 201, { ...forked, of: PUBLISHED, inOrg: true }),
  row(`POST ${LINE}/fork`, "homeWriters", 201, {
    ...forked,
    about: "of a public one, @org/name, home",
    of: PUBLISHED,
    isQualified: true,
  }),
  row(`POST ${LINE}/fork`, "homeWriters", 201, { ...forked, about: "of a public one, home", of: PUBLISHED }),
  row(`POST ${LINE}/fork`, "homeForkers", 201, { ...forked, about: "of a private one, home", of: PRIVATE }),
  row(`POST ${LINE}/executions`, "platformAdmins", 201, { ...recorded, of: PUBLISHED }),
  row(`POST ${LINE}/executions`, "platformAdmins", 201, {
    ...recorded,
    about: "of a private one",
    of: PRIVATE,
  }),
];

const MODELS = [
  row("GET /models", "everyone", 200),
  row("GET /models.csv", "everyone", 200),
  row("GET /models/providers", "everyone", 200),
  row("GET /models/aliases", "everyone", 200),
  row("GET /models/held", "everyone", 200),
  row("GET /models/resolve/*", "everyone", 200, { of: async () => "gpt" }),
  row("GET /models/:provider/*", "everyone", 200, { of: async () => "gpt-5" }),
  row("GET /models/history/:provider/*", "everyone", 200, { of: async () => "gpt-5" }),
  row("GET /models/history", "everyone", 200, { query: "?model=openai%2Fgpt-5" }),
  row("POST /models/cost", "everyone", 200, {
    body: () => ({ items: [{ alias: "gpt", inputTokens: 1, outputTokens: 1 }] }),
  }),
];

const EVENTS = [
  row("GET /events", "everyone", 200),
  row("GET /events", "members", 200, { about: "of an organization", inOrg: true }),
  row("GET /orgs/:slug/webhooks", "orgAdmins", 200, { of: orgSlug }),
  row("POST /orgs/:slug/webhooks", "orgAdminsToWrite", 201, {
    of: noWebhooks,
    body: () => ({ url: "https://example.com/hook", types: ["export.ready"] }),
    audit: "webhook.create",
  }),
  row("GET /orgs/:slug/webhooks/:id", "orgAdmins", 200, { of: webhookId }),
  row("PATCH /orgs/:slug/webhooks/:id", "orgAdminsToWrite", 200, {
    of: webhookId,
    body: () => ({ types: ["export.failed"] }),
    audit: "webhook.update",
  }),
  row("DELETE /orgs/:slug/webhooks/:id", "orgAdminsToWrite", 204, { of: webhookId, audit: "webhook.delete" }),
  row("POST /orgs/:slug/webhooks/:id/test", "orgAdminsToWrite", 201, {
    of: webhookId,
    audit: "webhook.test",
  }),
  row("POST /orgs/:slug/webhooks/:id/rotate", "orgAdminsToWrite", 200, {
    of: webhookId,
    audit: "webhook.rotate",
  }),
  row("GET /orgs/:slug/webhooks/:id/deliveries", "orgAdmins", 200, { of: webhookId }),
];

const PEOPLE = [
  row("GET /orgs", "known", 200),
  row("GET /orgs/:slug", "members", 200, { of: orgSlug }),
  row("GET /orgs/:slug/members", "members", 200, { of: orgSlug }),
  row("PATCH /orgs/:slug/members/:userId", "orgAdminSessions", 200, {
    of: memberId,
    body: () => ({ role: "publisher" }),
    audit: "member.update",
  }),
  row("DELETE /orgs/:slug/members/:userId", "orgAdminSessions", 204, {
    of: memberId,
    audit: "member.remove",
  }),
  row("GET /orgs/:slug/invitations", "orgAdmins", 200, { of: orgSlug }),
  row("POST /orgs/:slug/invitations", "orgAdminSessions", 201, {
    of: orgSlug,
    body: () => ({ email: "ann@example.org", role: "viewer" }),
    audit: "invitation.create",
  }),
  row("DELETE /orgs/:slug/invitations/:id", "orgAdminSessions", 204, {
    of: invitationId,
    audit: "invitation.revoke",
  }),
  row("POST /invitations/preview", "linkHolders", 200, {
    of: invitationToken,
    body: (token) => ({ token }),
  }),
  row("POST /invitations/accept", "sessions", 200, {
    of: invitationToken,
    body: (token) => ({ token }),
    audit: "member.add",
  }),
  row("GET /orgs/:slug/projects", "members", 200, { of: orgSlug }),
  row("GET /orgs/:slug/usage", "members", 200, { of: orgSlug }),
  row("GET /orgs/:slug/audit", "orgAdmins", 200, { of: orgSlug }),
  ...["", "/members", "/projects", "/usage", "/audit"].map((what) =>
    row(`GET /orgs/:slug${what}`, "membersOfNone", 200, { about: "of none", of: newName }),
  ),
  row("PATCH /orgs/:slug", "orgAdminsToWrite", 200, {
    of: orgSlug,
    body: () => ({ description: "New" }),
    audit: "org.update",
  }),
  row("POST /orgs", "sessions", 201, {
    body: () => ({ slug: freeName(), name: "Acme" }),
    audit: "org.create",
  }),
  row("DELETE /orgs/:slug", "orgAdminSessions", 200, {
    of: livingOrg,
    body: (slug) => ({ confirm: slug }),
    audit: "org.schedule-deletion",
  }),
  row("POST /orgs/:slug/restore", "orgAdminSessions", 200, { of: endingOrg, audit: "org.restore" }),
  row("POST /orgs/:slug/projects", "orgAdminSessions", 201, {
    of: orgSlug,
    body: () => ({ name: freeName() }),
    audit: "project.create",
  }),
  row("GET /orgs/:slug/projects/deleted", "orgAdmins", 200, { of: orgSlug }),
  row("PATCH /orgs/:slug/projects/:project", "orgAdminSessions", 200, {
    of: otherProject,
    body: () => ({ name: freeName() }),
    audit: "project.update",
  }),
  row("DELETE /orgs/:slug/projects/:project", "orgAdminSessions", 200, {
    of: otherProject,
    audit: "project.delete",
  }),
  row("POST /orgs/:slug/projects/:project/restore", "orgAdminSessions", 200, {
    of: deletedProject,
    audit: "project.restore",
  }),
  row("GET /orgs/:slug/profile", "everyone", 200, { of: orgSlug }),
  row("GET /users/:id", "everyone", 200, { of: userId }),
  row("PATCH /users/me", "sessions", 200, { body: () => ({ bio: "New" }), audit: "user.update" }),
  row("POST /users/batch", "everyone", 200, { of: userId, body: (id) => ({ ids: [id] }) }),
];

const BESIDE_API = [
  row("GET /health/live", "anything", 200),
  row("GET /health/ready", "anything", 200),
  row("GET /metrics", "anything", 200),
  row("GET /.well-known/security.txt", "anything", 200),
  row("GET /schemas/:file", "anything", 200, { of: async () => "agent.json" }),
  row("GET /security-policy", "anything", 200),
  row("GET /favicon.ico", "anything", 200),
  row("GET /swagger", "anything", 200),
  row("GET /swagger/json", "anything", 200),
  row("GET /swagger/assets/:file", "anything", 200, { of: async () => "swagger-ui.css" }),
  row("GET /dashboard", "anything", 302),
  row("GET /dashboard/assets/:file", "anything", 200, { of: async () => "style.css" }),
];

export const ACCESS_TABLE: readonly Row[] = [
  ...[AUTH, FACTORS, EXPORTS, DEFINITION_READS, DEFINITION_WRITES, MODELS, EVENTS, PEOPLE, BESIDE_API],
].flat();
