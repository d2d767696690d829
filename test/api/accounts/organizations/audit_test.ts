import { expect, test } from "bun:test";
import { insertAuditEntry } from "../../../../sql/accounts/audit_log.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { Person } from "../../../helpers/postgres/factory.ts";

interface Entry {
  id: number;
  action: string;
  [field: string]: unknown;
}

interface AuditPage {
  entries: Entry[];
  nextCursor: string | null;
}

async function readPage(api: TestApp, { org, key }: Person, query = ""): Promise<AuditPage> {
  const response = await api.request(`/api/v1/orgs/${org.slug}/audit${query}`, { key });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: AuditPage }).data;
}

async function addEntries(api: TestApp, orgId: string, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    await insertAuditEntry(api.db.sql, {
      actorType: "service",
      action: "thing.do",
      subject: { type: "thing", id: String(number) },
      orgId,
    });
  }
}

test("exports and denied writes are recorded with the actor, address and request", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const viewer = await api.make.person({ org: owner.org, role: "viewer" });
  const project = await api.make.project({ orgId: owner.org.id, ownerId: owner.user.id });
  const headers = { "user-agent": "exporter/2", "x-request-id": "nightly-7" };
  const path = `/api/v1/export/projects/${project.id}/issues`;
  const options = { key: viewer.key, headers, address: "198.51.100.7" };
  await (await api.request(path, options)).text();
  await api.request(path, { ...options, method: "HEAD" });
  const refused = await api.request("/api/v1/definitions/agent/some-agent", {
    key: viewer.key,
    method: "POST",
    body: { yaml: "agent: {}" },
    headers: { "x-org-slug": owner.org.slug },
  });
  expect(refused.status).toBe(403);
  const { entries, nextCursor } = await readPage(api, owner);
  expect(nextCursor).toBeNull();
  const actor = { actorType: "user", actorUserId: viewer.user.id, actorUsername: viewer.user.username };
  expect(entries).toEqual([
    expect.objectContaining({
      ...actor,
      action: "request.refuse",
      subjectId: "POST /api/v1/definitions/:type/:name",
      details: { code: "INSUFFICIENT_ORG_ROLE" },
    }),
    {
      id: expect.any(Number),
      occurredAt: expect.any(String),
      ...actor,
      credentialId: viewer.keyId,
      action: "export.dataset",
      subjectType: "project",
      subjectId: project.id,
      organizationId: owner.org.id,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      clientRequestId: "nightly-7",
      address: "198.51.100.7",
      userAgent: "exporter/2",
      details: { dataset: "issues", format: "ndjson", asOf: expect.any(String), rows: 0 },
    },
  ]);
  const ownIds = api.logLines.filter(({ requestId }) => requestId === "nightly-7");
  expect(ownIds.map(({ ownRequestId }) => ownRequestId)).toContain(entries[1]?.["requestId"]);
});

test("refused writes add at most one entry of each kind and 60 in total per user and minute", async () => {
  let now = Date.now();
  await using api = await openTestApp({ now: () => now });
  const owner = await api.make.person({ role: "owner" });
  const viewer = await api.make.person({ org: owner.org, role: "viewer" });
  const [create, queue] = ["/api/v1/definitions/agent/a", "/api/v1/export/jobs"] as const;
  const write = async (slug: string, path: string) => {
    const headers = { "x-org-slug": slug };
    const body = path === create ? { yaml: "agent: {}" } : {};
    const response = await api.request(path, { key: viewer.key, method: "POST", body, headers });
    await response.text();
    return response.status;
  };
  const count = async () => {
    const [row] = await api.db.sql<[{ count: number }]>`
      select count(*) from audit_log where action = 'request.refuse' and actor_user_id = ${viewer.user.id}`;
    return row.count;
  };
  const atOnce = await Promise.all(Array.from({ length: 5 }, () => write(owner.org.slug, create)));
  expect(atOnce).toEqual(Array(5).fill(403));
  expect(await write(owner.org.slug, create)).toBe(403);
  expect(await write(owner.org.slug, queue)).toBe(403);
  expect(await count()).toBe(2);
  now += 60_000;
  expect(await write(owner.org.slug, create)).toBe(403);
  expect(await count()).toBe(3);
  now += 60_000;
  for (let n = 0; n < 32; n += 1) {
    const { org } = await api.make.person({ role: "owner" });
    await api.make.member({ orgId: org.id, userId: viewer.user.id, role: "viewer" });
    for (const path of [create, queue]) expect(await write(org.slug, path)).toBe(403);
  }
  expect(await count()).toBe(3 + 60);
});

test("failing to record a refusal does not suppress the next refusal of the same kind", async () => {
  let now = Date.now();
  await using api = await openTestApp({ now: () => now });
  const owner = await api.make.person({ role: "owner" });
  const viewer = await api.make.person({ org: owner.org, role: "viewer" });
  const refuse = async (slug = owner.org.slug, path = "/api/v1/export/jobs") => {
    const headers = { "x-org-slug": slug };
    const response = await api.request(path, { key: viewer.key, method: "POST", body: {}, headers });
    await response.text();
    return response.status;
  };
  const count = async (orgId: string) => {
    const [row] = await api.db.sql<[{ count: number }]>`
      select count(*) from audit_log where action = 'request.refuse' and org_id = ${orgId}`;
    return row.count;
  };
  await api.db.owner`alter table audit_log rename to audit_log_away`;
  expect(await refuse()).toBe(403);
  await api.db.owner`alter table audit_log_away rename to audit_log`;
  const warning = { message: "cannot note a refusal in the audit log" };
  expect(api.logLines).toContainEqual(expect.objectContaining(warning));
  expect(await refuse()).toBe(403);
  expect(await count(owner.org.id)).toBe(1);

  now += 60_000;
  const others = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const { org } = await api.make.person({ role: "owner" });
      await api.make.member({ orgId: org.id, userId: viewer.user.id, role: "viewer" });
      return org;
    }),
  );
  for (const { slug } of others) expect(await refuse(slug)).toBe(403);
  now += 30_000;
  expect(await refuse()).toBe(403);
  expect(await count(owner.org.id)).toBe(1);
  // The minute of the user's limit is over. The previous refusal was not recorded, so it must not count toward the limit for
  // refusals of its kind.
  now += 30_000;
  expect(await refuse()).toBe(403);
  expect(await count(owner.org.id)).toBe(2);
});

test("a denied write returns 403 even if the audit log cannot be written", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const viewer = await api.make.person({ org: owner.org, role: "viewer" });
  const status = await api.db.owner.begin(async (tx) => {
    await tx`lock table audit_log in exclusive mode`;
    const headers = { "x-org-slug": owner.org.slug };
    const options = { key: viewer.key, method: "POST", body: {}, headers };
    return (await api.request("/api/v1/export/jobs", options)).status;
  });
  expect(status).toBe(403);
  const problem = expect.objectContaining({ type: "DeadlineExceeded" });
  expect(api.logLines).toContainEqual(
    expect.objectContaining({ message: "cannot note a refusal in the audit log", err: problem }),
  );
});

test("audit pages have no gaps or repeated entries while new entries are added", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const other = await api.make.person({ role: "owner" });
  await addEntries(api, owner.org.id, 5);
  await addEntries(api, other.org.id, 1);
  const seen: unknown[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: AuditPage = await readPage(api, owner, `?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.entries.map(({ subjectId }) => subjectId));
    cursor = page.nextCursor;
    await addEntries(api, owner.org.id, 1);
  }
  expect(seen).toEqual(["5", "4", "3", "2", "1"]);
});

test("an invalid limit, an invalid cursor and an unknown parameter return 400", async () => {
  await using api = await openTestApp();
  const { org, key } = await api.make.person({ role: "owner" });
  for (const query of ["limit=0", "limit=201", "cursor=x", "cursor=", "cursor=0", "since=2026-01-01"]) {
    const response = await api.request(`/api/v1/orgs/${org.slug}/audit?${query}`, { key });
    expect([query, response.status]).toEqual([query, 400]);
  }
});

test("of a member's account changes, an organization sees only new keys that are bound to it", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const member = await api.make.person({ org: owner.org, role: "publisher" });
  const { token } = await api.make.session({ userId: member.user.id });
  await api.request("/api/v1/auth/keys", { method: "POST", key: token, body: {} });
  await api.request("/api/v1/auth/logout", { method: "POST", key: token });
  expect((await readPage(api, owner)).entries).toEqual([]);
  const { token: second } = await api.make.session({ userId: member.user.id });
  const body = { organization: owner.org.slug };
  await api.request("/api/v1/auth/keys", { method: "POST", key: second, body });
  const { entries } = await readPage(api, owner);
  expect(entries.map(({ action }) => action)).toEqual(["key.create"]);
});
