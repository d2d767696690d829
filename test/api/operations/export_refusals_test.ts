import { expect, test } from "bun:test";
import { exportDataset, makeExportProject } from "../../helpers/exports/export_project.ts";
import { openTestApp } from "../../helpers/http/app.ts";

interface Refusal {
  error: { code: string; message: string; requestId: string; details?: Record<string, unknown> };
}

async function refusal(response: Response): Promise<[number, string, Record<string, unknown> | undefined]> {
  const { error } = (await response.json()) as Refusal;
  return [response.status, error.code, error.details];
}

const PATHS = ["issues", "bundle", "estimate"] as const;

test("an export without a credential returns 401 with WWW-Authenticate", async () => {
  await using app = await openTestApp();
  const { project } = await makeExportProject(app);
  for (const path of PATHS) {
    const response = await app.request(`/api/v1/export/projects/${project.id}/${path}?nonsense=1`);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await refusal(response)).toEqual([401, "UNAUTHORIZED", undefined]);
  }
});

test("another user's project, a deleted project and a missing project return the same 404", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const stranger = await app.make.person();
  const deleted = await app.make.project({
    orgId: person.org.id,
    ownerId: person.user.id,
    deletedAt: "2026-01-01T00:00:00.000Z",
  });
  const messages: string[] = [];
  const responses = [
    await app.request(`/api/v1/export/projects/${project.id}/issues`, { key: stranger.key }),
    await app.request(`/api/v1/export/projects/${deleted.id}/issues`, { key: person.key }),
    await app.request(`/api/v1/export/projects/${crypto.randomUUID()}/issues`, { key: person.key }),
    await app.request("/api/v1/export/projects/no-such-project/issues", { key: person.key }),
  ];
  for (const response of responses) {
    const { error } = (await response.clone().json()) as Refusal;
    messages.push(error.message.replace(/"[0-9a-f-]{36}"/, '"ID"'));
    expect(await refusal(response)).toEqual([404, "PROJECT_NOT_FOUND", undefined]);
  }
  const byId = 'Project "ID" not found in your organizations.';
  const searched = `Project "no-such-project" not found in organization "${person.personalOrg.slug}".`;
  expect(messages).toEqual([
    ...[byId, byId, byId],
    `${searched} Set X-Org-Slug to search another organization.`,
  ]);
});

test("a key bound to one organization does not see projects of its owner's other organizations", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const bound = await app.make.key({ userId: person.user.id, orgId: person.personalOrg.id });
  const byId = await app.request(`/api/v1/export/projects/${project.id}/issues`, { key: bound.key });
  expect(await refusal(byId)).toEqual([404, "PROJECT_NOT_FOUND", undefined]);
  const bySlug = await app.request(`/api/v1/export/projects/${project.slug}/issues`, {
    key: bound.key,
    headers: { "x-org-slug": person.org.slug },
  });
  expect(await refusal(bySlug)).toEqual([403, "ORG_ACCESS_DENIED", undefined]);
});

test("a project is found by id, slug or name in the request's organization", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const headers = { "x-org-slug": person.org.slug };
  for (const name of [project.id, project.id.toUpperCase(), project.slug, encodeURIComponent(project.name)]) {
    const response = await app.request(`/api/v1/export/projects/${name}/issues`, {
      key: person.key,
      headers,
    });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  }
  const elsewhere = await app.request(`/api/v1/export/projects/${project.slug}/issues`, { key: person.key });
  expect(await refusal(elsewhere)).toEqual([404, "PROJECT_NOT_FOUND", undefined]);
});

test("with a project's id, X-Org-Slug may name any of the caller's organizations, but no other organization", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const stranger = await app.make.person();
  const { key: bound } = await app.make.key({ userId: person.user.id, orgId: person.org.id });
  const read = async (key: string, slug: string, id = project.id) => {
    const headers = { "x-org-slug": slug };
    const response = await app.request(`/api/v1/export/projects/${id}/issues`, { key, headers });
    if (response.status !== 200) return (await refusal(response)).slice(0, 2);
    await response.body?.cancel();
    return 200;
  };
  const denied = [403, "ORG_ACCESS_DENIED"];
  expect(await read(person.key, person.org.slug)).toBe(200);
  expect(await read(person.key, person.personalOrg.slug)).toBe(200);
  expect(await read(person.key, stranger.org.slug)).toEqual(denied);
  expect(await read(person.key, "no-such-organization")).toEqual(denied);
  expect(await read(bound, person.personalOrg.slug)).toEqual(denied);
  expect(await read(person.key, stranger.org.slug, crypto.randomUUID())).toEqual([404, "PROJECT_NOT_FOUND"]);
});

test("an unknown dataset returns 404 with the names of the eight datasets", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const response = await app.request(`/api/v1/export/projects/${project.id}/isues`, { key: person.key });
  const { error } = (await response.json()) as { error: { message: string } };
  expect([response.status, error]).toMatchObject([
    404,
    { code: "NOT_FOUND", details: { reason: "dataset" } },
  ]);
  expect(error.message).toBe(
    "Dataset not found. The datasets are issues, issue-notes, status-history, occurrences, runs, agent-snapshots, analysis-summaries, analysis-records.",
  );
});

test("bundles and estimates require the publisher role and a personal credential, and datasets require neither", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const viewer = await app.make.person({ role: "viewer", org: person.org });
  const denied = { currentRole: "viewer", requiredRole: "publisher" };
  for (const path of ["bundle", "estimate"] as const) {
    const byViewer = await exportDataset(app, { person: viewer, project }, path);
    expect(await refusal(byViewer)).toEqual([403, "INSUFFICIENT_ORG_ROLE", denied]);
    for (const kind of ["automation", "system"] as const) {
      const { key } = await app.make.key({ userId: person.user.id, kind });
      const byKey = await app.request(`/api/v1/export/projects/${project.id}/${path}`, { key });
      expect(await refusal(byKey)).toEqual([403, "KEY_KIND_FORBIDDEN", { kind }]);
    }
  }
  const { key } = await app.make.key({ userId: viewer.user.id, kind: "automation", scope: "read" });
  const dataset = await app.request(`/api/v1/export/projects/${project.id}/issues`, { key });
  expect(dataset.status).toBe(200);
  await dataset.body?.cancel();
});

test("an export by an organization on the free tier returns 402, even with an invalid query", async () => {
  await using app = await openTestApp();
  const person = await app.make.person({ tier: "free" });
  const paid = await app.make.org({ subscriptionTier: "pro" });
  await app.make.member({ orgId: paid.id, userId: person.user.id });
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const details = { requiredTier: "hobbyist", currentTier: "free", feature: "export" };
  for (const path of PATHS) {
    const response = await exportDataset(app, { person, project }, path, "?nonsense=1");
    const { error } = (await response.clone().json()) as Refusal;
    expect(error.message).toContain(`Organization "${person.org.slug}" is on the free tier.`);
    expect(await refusal(response)).toEqual([402, "SUBSCRIPTION_REQUIRED", details]);
  }
});

/** Paths and query strings, each with the parameter that must be refused. */
const BAD_QUERIES: readonly [(typeof PATHS)[number] | "runs" | "occurrences", string, string][] = [
  ["issues", "format=xml", "format"],
  ["issues", "format=csv&format=ndjson", "format"],
  ["issues", "as_of=yesterday", "as_of"],
  ["issues", "as_of=2026-01-01", "as_of"],
  ["issues", "as_of=2026-02-30T00:00:00Z", "as_of"],
  ["issues", "as_of=2026-01-01T00:00:00", "as_of"],
  ["issues", "as_of=", "as_of"],
  ["issues", "as_of=2999-01-01T00:00:00Z", "as_of"],
  ["issues", "status=done", "status"],
  ["issues", "status=", "status"],
  ["issues", "priority=open", "priority"],
  ["issues", "include_deleted=yes", "include_deleted"],
  ["issues", "include_archived=true", "include_archived"],
  ["issues", "limit=10", "limit"],
  ["issues", "Status=open", "Status"],
  ["runs", "include_deleted=true", "include_deleted"],
  ["occurrences", "issue_id=7", "issue_id"],
  ["occurrences", `agent=${"a".repeat(501)}`, "agent"],
  ["bundle", "status=open", "status"],
  ["bundle", "as_of=2999-01-01T00:00:00Z", "as_of"],
  ["estimate", "format=zip", "format"],
];

test("an unknown, repeated or malformed parameter returns 400 with the parameter's name", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  for (const [path, query, parameter] of BAD_QUERIES) {
    const [status, code, details] = await refusal(
      await exportDataset(app, made, path as (typeof PATHS)[number], `?${query}`),
    );
    const errors = details?.["errors"] as { path: string; message: string }[];
    expect([query, status, code, errors.map((error) => error.path)]).toEqual([
      query,
      400,
      "VALIDATION_ERROR",
      [parameter],
    ]);
  }
});

test("all problems of a query are reported at once", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const [, , details] = await refusal(
    await exportDataset(app, made, "issues", "?format=x&as_of=x&nonsense=1"),
  );
  const errors = details?.["errors"] as { path: string }[];
  expect(errors.map((error) => error.path).sort()).toEqual(["as_of", "format", "nonsense"]);
});

test("a dataset or a bundle over its limit returns 413 and refers to export jobs", async () => {
  await using app = await openTestApp({ config: { exportSyncMaxRows: 1, exportBundleMaxRows: 5 } });
  const made = await makeExportProject(app);
  const asyncEndpoint = "/api/v1/export/jobs";
  expect(await refusal(await exportDataset(app, made, "issues"))).toEqual([
    413,
    "EXPORT_TOO_LARGE",
    { rows: 2, limit: 1, asyncEndpoint },
  ]);
  const [status, code, details] = await refusal(await exportDataset(app, made, "bundle"));
  expect([status, code, details?.["limit"]]).toEqual([413, "EXPORT_TOO_LARGE", 5]);
  expect(Number(details?.["rows"])).toBeGreaterThan(5);
  const estimate = await exportDataset(app, made, "estimate");
  expect(((await estimate.json()) as { data: object }).data).toMatchObject({
    syncAllowed: false,
    totalRows: 12,
  });
});

test("a bundle whose rows cannot be counted in time returns 504, and the next request succeeds", async () => {
  await using app = await openTestApp({ config: { exportPrepareTimeoutMs: 200 } });
  const made = await makeExportProject(app);
  const release = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = app.db.sql.begin(async (tx) => {
    await tx`lock table issues in access exclusive mode`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  for (const path of ["bundle", "estimate"] as const) {
    expect(await refusal(await exportDataset(app, made, path))).toEqual([
      504,
      "EXPORT_PREPARE_TIMEOUT",
      { asyncEndpoint: "/api/v1/export/jobs" },
    ]);
  }
  // HEAD of a dataset also counts the rows, although its response has no body.
  const url = `/api/v1/export/projects/${made.project.id}/issues`;
  expect((await app.request(url, { method: "HEAD", key: made.person.key })).status).toBe(504);
  release.resolve();
  await holding;
  const bundle = await exportDataset(app, made, "bundle");
  expect(bundle.status).toBe(200);
  await bundle.arrayBuffer();
});

test("an export without a free slot returns 503 with Retry-After, and a freed slot serves the next export", async () => {
  await using app = await openTestApp({ config: { exportStreamsMax: 1 } });
  const made = await makeExportProject(app);
  const first = await exportDataset(app, made, "issues");
  const second = await exportDataset(app, made, "issues");
  expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await refusal(second)).slice(0, 2)).toEqual([503, "SERVICE_UNAVAILABLE"]);
  await first.body?.cancel();
  const third = await exportDataset(app, made, "issues");
  expect(third.status).toBe(200);
  await third.text();
});

test("writing to an export returns 405 with the allowed methods", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const response = await app.request(`/api/v1/export/projects/${project.id}/issues`, {
    method: "POST",
    key: person.key,
  });
  expect(response.headers.get("allow")).toContain("GET");
  expect((await refusal(response)).slice(0, 2)).toEqual([405, "METHOD_NOT_ALLOWED"]);
});
