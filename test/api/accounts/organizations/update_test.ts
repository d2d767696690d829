import { expect, test } from "bun:test";
import { auditRows } from "../../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

async function openPlace() {
  const api = await openTestApp();
  const { org, user, personalOrg } = await api.make.person({ role: "owner" });
  const { token } = await api.make.session({ userId: user.id });
  return { api, org, user, personalOrg, token, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

/** Sends an update. Returns the status and the profile, or the status, the error code and the invalid fields. */
async function update(api: TestApp, slug: string, given: { key: string; body: object; query?: string }) {
  const { key, body, query = "" } = given;
  const path = `/api/v1/orgs/${slug}${query}`;
  const response = await api.request(path, { method: "PATCH", key, body });
  const { data, error } = (await response.json()) as {
    data?: object;
    error?: { code: string; details?: { errors?: { path: string; message: string }[] } };
  };
  return { status: response.status, data, code: error?.code, errors: error?.details?.errors };
}

async function readProfile(api: TestApp, slug: string) {
  return (await api.request(`/api/v1/orgs/${slug}/profile`)).json();
}

test("changes the given fields, keeps the others and unsets fields with null", async () => {
  await using place = await openPlace();
  const { api, org, user, token: key } = place;
  const { slug } = org;
  const body = { name: "Acme", description: "Makes\nthings", websiteUrl: "https://acme.example/a?b=c" };
  const all = await update(api, slug, { key, body });
  const profile = {
    slug,
    ...body,
    isPersonal: false,
    createdAt: expect.any(String),
    publicDefinitions: 0,
    totalExecutions: 0,
  };
  expect([all.status, all.data]).toEqual([200, profile]);
  expect(await readProfile(api, slug)).toEqual({ data: profile });
  const unset = await update(api, slug, { key, body: { description: null, websiteUrl: null } });
  expect(unset.data).toEqual({ ...profile, description: null, websiteUrl: null });
  const unchanged = await update(api, slug, { key, body: {} });
  expect([unchanged.status, unchanged.data]).toEqual([200, unset.data]);
  const rows = await auditRows(api);
  const entry = {
    actorUserId: user.id,
    action: "org.update",
    subjectType: "organization",
    subjectId: org.id,
  };
  expect([...rows]).toMatchObject([
    { ...entry, details: { changed: "name, description, websiteUrl" } },
    { ...entry, details: { changed: "description, websiteUrl" } },
  ]);
});

test.each(["owner", "admin", "publisher", "viewer", "outsider"] as const)(
  "%s: returns the same status and error code as GET /orgs/{slug}/webhooks",
  async (role) => {
    await using place = await openPlace();
    const { api, org } = place;
    const { user } = await api.make.person(role === "outsider" ? {} : { org, role });
    const { token: key } = await api.make.session({ userId: user.id });
    const before = await readProfile(api, org.slug);
    for (const slug of [org.slug, "no-such-org"]) {
      const sibling = await api.request(`/api/v1/orgs/${slug}/webhooks`, { key });
      const { error } = (await sibling.json()) as { error?: { code: string } };
      const { status, code } = await update(api, slug, { key, body: { name: "Acme" } });
      expect([slug, status, code]).toEqual([slug, sibling.status, error?.code]);
    }
    const isAllowed = role === "owner" || role === "admin";
    const after = await readProfile(api, org.slug);
    expect(Bun.deepEquals(after, before)).toBe(!isAllowed);
    const entries = await api.db.sql`select action from audit_log where org_id = ${org.id}`;
    const denied = role === "outsider" ? [] : [{ action: "request.refuse" }];
    expect([...entries]).toEqual(isAllowed ? [{ action: "org.update" }] : denied);
  },
);

test("a session or write key can change a personal organization; a read or automation key cannot", async () => {
  await using place = await openPlace();
  const { api, personalOrg, user, token: key } = place;
  const { slug } = personalOrg;
  const body = { description: "Builds agents" };
  expect(await update(api, slug, { key, body })).toMatchObject({
    status: 200,
    data: { slug, isPersonal: true, ...body },
  });
  const write = await api.make.key({ userId: user.id });
  expect((await update(api, slug, { key: write.key, body: { name: "Ann" } })).status).toBe(200);
  const read = await api.make.key({ userId: user.id, scope: "read" });
  expect(await update(api, slug, { key: read.key, body: { name: "Bob" } })).toMatchObject({
    status: 403,
    code: "INSUFFICIENT_SCOPE",
  });
  const automation = await api.make.key({ userId: user.id, kind: "automation" });
  expect(await update(api, slug, { key: automation.key, body: { name: "Bob" } })).toMatchObject({
    status: 403,
    code: "KEY_KIND_FORBIDDEN",
  });
  expect(await readProfile(api, slug)).toMatchObject({ data: { name: "Ann", ...body } });
});

test("invalid values, unknown fields and parameters are rejected, and nothing is written", async () => {
  await using place = await openPlace();
  const { api, org, token: key } = place;
  const before = await readProfile(api, org.slug);
  for (const [body, path] of [
    [{ name: "x".repeat(201) }, "name"],
    [{ name: " " }, "name"],
    [{ name: "" }, "name"],
    [{ name: null }, "name"],
    [{ name: "two\nlines" }, "name"],
    [{ name: "\u202emca" }, "name"],
    [{ description: "x".repeat(2001) }, "description"],
    [{ description: "a\0b" }, "description"],
    [{ description: "half \ud83e" }, "description"],
    [{ description: 7 }, "description"],
    [{ websiteUrl: "javascript:alert(1)" }, "websiteUrl"],
    [{ websiteUrl: "acme.example" }, "websiteUrl"],
    [{ websiteUrl: `https://acme.example/${"x".repeat(2000)}` }, "websiteUrl"],
    [{ slug: "other" }, "slug"],
    [{ bio: "Makes things" }, "bio"],
    [{ subscriptionTier: "enterprise" }, "subscriptionTier"],
    [{ isPersonal: true }, "isPersonal"],
  ] as const) {
    const { status, code, errors } = await update(api, org.slug, { key, body });
    expect([body, status, code, errors?.map((error) => error.path)]).toEqual([
      ...[body, 400, "VALIDATION_ERROR"],
      [path],
    ]);
  }
  const query = await update(api, org.slug, { key, body: { name: "Acme" }, query: "?dry=true" });
  expect([query.status, query.code]).toEqual([400, "VALIDATION_ERROR"]);
  expect(await readProfile(api, org.slug)).toEqual(before);
  expect(await auditRows(api)).toHaveLength(0);
});

test("reports all problems at once, with the same messages as for a user's profile", async () => {
  await using place = await openPlace();
  const { api, org, token: key } = place;
  const given = { name: " ", websiteUrl: "acme.example" };
  const text = "x".repeat(2001);
  const { errors } = await update(api, org.slug, { key, body: { ...given, description: text } });
  const user = await api.request("/api/v1/users/me", { method: "PATCH", key, body: { ...given, bio: text } });
  const { error } = (await user.json()) as { error: { details: { errors: typeof errors } } };
  expect(errors).toHaveLength(3);
  expect(errors?.map(({ message }) => message)).toEqual(error.details.errors?.map(({ message }) => message));
});

test("a failed audit entry rolls back the change to the organization", async () => {
  await using place = await openPlace();
  const { api, org, token: key } = place;
  const before = await readProfile(api, org.slug);
  await api.db.owner`alter table audit_log add constraint no_entries_check check (false) not valid`;
  const { status } = await update(api, org.slug, { key, body: { name: "Acme" } });
  expect(status).toBe(500);
  expect(await readProfile(api, org.slug)).toEqual(before);
});
