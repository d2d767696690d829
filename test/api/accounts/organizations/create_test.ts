import { expect, test } from "bun:test";
import { auditRows } from "../../../helpers/accounts/accounts.ts";
import { runCommand, runFailing, runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { Columns } from "../../../helpers/postgres/factory.ts";

interface Created {
  status: number;
  data?: { id: string; slug: string };
  error?: { code: string; message: string; details?: object };
}

async function signedIn(api: TestApp, columns: Columns = {}) {
  const user = await api.make.user(columns);
  const { token } = await api.make.session({ userId: user.id });
  return { user, key: token };
}

async function create(api: TestApp, key: string, body: object, headers = {}): Promise<Created> {
  const response = await api.request("/api/v1/orgs", { method: "POST", key, body, headers });
  return { status: response.status, ...((await response.json()) as object) };
}

test("the creator becomes the owner of a free-tier organization, which appears in their list", async () => {
  await using api = await openTestApp();
  const { user, key } = await signedIn(api);
  const { status, data } = await create(api, key, { slug: "acme", name: "Acme Inc." });
  const org = {
    ...{ slug: "acme", name: "Acme Inc.", role: "owner", subscriptionTier: "free", memberCount: 1 },
    ...{ isPersonal: false, deletesAt: null, description: null, websiteUrl: null },
  };
  expect([status, data]).toMatchObject([201, org]);
  const list = (await (await api.request("/api/v1/orgs", { key })).json()) as { data: object };
  expect(list.data).toMatchObject({ organizations: [{ slug: "acme", role: "owner" }] });
  expect([...(await auditRows(api))]).toMatchObject([
    { actorUserId: user.id, action: "org.create", subjectId: data?.id, details: { slug: "acme" } },
  ]);
});

test("a repeated request with the same Idempotency-Key creates one organization", async () => {
  await using api = await openTestApp();
  const { key } = await signedIn(api);
  const headers = { "idempotency-key": crypto.randomUUID() };
  const body = { slug: "acme", name: "Acme" };
  const [first, second] = [await create(api, key, body, headers), await create(api, key, body, headers)];
  expect([first.status, second.status, second.data?.id]).toEqual([201, 201, first.data?.id]);
  expect(await auditRows(api)).toHaveLength(1);
});

test.each([
  ["slug", { slug: "", name: "Acme" }],
  ["slug", { slug: "Acme", name: "Acme" }],
  ["slug", { slug: ".acme", name: "Acme" }],
  ["slug", { slug: "a/b", name: "Acme" }],
  ["slug", { slug: "x".repeat(64), name: "Acme" }],
  ["slug", { slug: "ac\0me", name: "Acme" }],
  ["slug", { name: "Acme" }],
  ["name", { slug: "acme", name: " " }],
  ["name", { slug: "acme", name: "x".repeat(201) }],
  ["name", { slug: "acme", name: "a\nb" }],
  ["subscriptionTier", { slug: "acme", name: "Acme", subscriptionTier: "pro" }],
])("refuses an invalid %s and writes nothing: %p", async (path, body) => {
  await using api = await openTestApp();
  const { key } = await signedIn(api);
  const { status, error } = await create(api, key, body);
  expect([status, error]).toMatchObject([400, { code: "VALIDATION_ERROR", details: { errors: [{ path }] } }]);
  expect(await api.db.sql`select 1 from organizations`).toHaveLength(0);
  expect(await auditRows(api)).toHaveLength(0);
});

test("a new organization cannot take the slug of a live, deleted or personal organization", async () => {
  await using api = await openTestApp();
  const { user, key } = await signedIn(api);
  const person = await api.make.person();
  const gone = await api.make.org({ deletesAt: "2026-01-01T00:00:00Z", deletedAt: "2026-01-01T00:00:00Z" });
  for (const slug of [person.org.slug, person.personalOrg.slug, gone.slug]) {
    const { status, error } = await create(api, key, { slug, name: "Acme" });
    expect([status, error?.code, error?.message]).toEqual([
      ...[409, "NAME_TAKEN"],
      `Cannot create organization "${slug}". The slug is taken. Choose another one.`,
    ]);
  }
  const owned = await api.db.sql`select 1 from organization_members where user_id = ${user.id}`;
  expect(owned).toHaveLength(0);
});

test("only one of two users who concurrently choose the same slug creates an organization", async () => {
  await using api = await openTestApp();
  const people = [await signedIn(api), await signedIn(api)];
  const results = await Promise.all(
    people.map(({ key }) => create(api, key, { slug: "acme", name: "Acme" })),
  );
  expect(results.map(({ status }) => status).toSorted()).toEqual([201, 409]);
});

test("a user can create at most ten organizations, even concurrently, not counting deleted ones", async () => {
  await using api = await openTestApp();
  const { user, key } = await signedIn(api);
  for (let n = 1; n <= 9; n += 1) await api.make.org({ createdBy: user.id });
  // The user did not create these two organizations, but is a member of the second.
  await api.make.org({ createdBy: (await api.make.user()).id });
  await api.make.member({ orgId: (await api.make.org()).id, userId: user.id });
  const results = await Promise.all(
    ["one", "two", "three"].map((slug) => create(api, key, { slug, name: "Acme" })),
  );
  expect(results.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
  const refused = results.find(({ status }) => status === 409);
  expect(refused?.error).toMatchObject({
    code: "QUOTA_EXCEEDED",
    details: { quota: "organizations", limit: 10 },
  });
  await api.db.sql`
    update organizations set deletes_at = now(), deleted_at = now()
    where id = (select id from organizations where created_by = ${user.id} limit 1)`;
  expect((await create(api, key, { slug: "four", name: "Acme" })).status).toBe(201);
});

test("with ORGANIZATION_CREATION=admin, only platform administrators can create organizations", async () => {
  await using api = await openTestApp({ config: { organizationCreation: "admin" } });
  const { key } = await signedIn(api);
  const refused = await create(api, key, { slug: "acme", name: "Acme" });
  expect([refused.status, refused.error?.code]).toEqual([403, "ROLE_REQUIRED"]);
  expect(refused.error?.message).toContain("Only operators can create organizations here");
  const admin = await signedIn(api, { platformRole: "admin" });
  expect((await create(api, admin.key, { slug: "acme", name: "Acme" })).status).toBe(201);
});

test("a failed audit entry rolls back the new organization", async () => {
  await using api = await openTestApp();
  const { key } = await signedIn(api);
  await api.db.owner`alter table audit_log add constraint no_entries_check check (false) not valid`;
  expect((await create(api, key, { slug: "acme", name: "Acme" })).status).toBe(500);
  expect(await api.db.sql`select 1 from organizations`).toHaveLength(0);
});

test("admin org create applies the API's slug rules and records no creator", async () => {
  await using api = await openTestApp();
  const { url } = api.db;
  const words = (slug: string) => ["org", "create", "--slug", slug, "--name", "Acme"];
  expect(await runJson(url, words("acme"))).toMatchObject({ slug: "acme", subscriptionTier: "free" });
  expect(await runFailing(url, words("acme"))).toBe(
    'Cannot create organization "acme". The slug is taken. Choose another one.',
  );
  const { exitCode, err } = await runCommand(url, words("Acme"));
  expect([exitCode, err]).toEqual([2, expect.stringContaining("--slug must be 1 to 63 characters")]);
  const [row] = await api.db.sql`select created_by from organizations where slug = 'acme'`;
  expect(row?.["createdBy"]).toBeNull();
});
