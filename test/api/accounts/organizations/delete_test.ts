import { expect, test } from "bun:test";
import { deleteOrganizations } from "../../../../jobs/delete_old_records.ts";
import type { OrgRole } from "../../../../shared/vocabulary.ts";
import { auditRows } from "../../../helpers/accounts/accounts.ts";
import { runCommand, runFailing, runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { commitDuring } from "../../../helpers/postgres/waiting_sessions.ts";

const NEVER = new AbortController().signal;

async function openPlace() {
  const api = await openTestApp();
  const { org, user, personalOrg } = await api.make.person({ role: "owner" });
  const { token: key } = await api.make.session({ userId: user.id });
  return { api, org, user, personalOrg, key, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

interface Answer {
  status: number;
  data?: { slug: string; deletesAt: string | null };
  error?: { code: string; message: string };
}

async function send(api: TestApp, key: string, [method, path]: [string, string], body?: object) {
  const response = await api.request(`/api/v1/orgs/${path}`, { method, key, ...(body && { body }) });
  return { status: response.status, ...((await response.json()) as object) } as Answer;
}

const remove = (api: TestApp, key: string, slug: string, confirm = slug) =>
  send(api, key, ["DELETE", slug], { confirm });
const restore = (api: TestApp, key: string, slug: string) => send(api, key, ["POST", `${slug}/restore`]);

test("a deleted organization works for seven days and shows its deletion time, which a repeated request keeps", async () => {
  await using place = await openPlace();
  const { api, org, user, key } = place;
  const before = Date.now();
  const { status, data } = await remove(api, key, org.slug);
  expect([status, data?.slug]).toEqual([200, org.slug]);
  const days = (Date.parse(data?.deletesAt ?? "") - before) / 86_400_000;
  expect(days).toBeGreaterThan(6.99);
  expect(days).toBeLessThan(7.01);
  expect(await remove(api, key, org.slug)).toMatchObject({
    status: 200,
    data: { deletesAt: data?.deletesAt },
  });
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(0);
  const shown = await send(api, key, ["GET", org.slug]);
  expect(shown).toMatchObject({ status: 200, data: { deletesAt: data?.deletesAt } });
  const project = await send(api, key, ["POST", `${org.slug}/projects`], { name: "Checkout" });
  expect(project.status).toBe(201);
  const [entry, ...others] = await auditRows(api);
  expect(entry).toMatchObject({
    ...{ actorUserId: user.id, action: "org.schedule-deletion", subjectId: org.id },
    details: { slug: org.slug, deletesAt: data?.deletesAt },
  });
  expect(others.map(({ action }) => action)).toEqual(["project.create"]);
});

test("an owner can repeat a restore, and the organization is not deleted", async () => {
  await using place = await openPlace();
  const { api, org, key } = place;
  await remove(api, key, org.slug);
  expect(await restore(api, key, org.slug)).toMatchObject({ status: 200, data: { deletesAt: null } });
  expect(await restore(api, key, org.slug)).toMatchObject({ status: 200, data: { deletesAt: null } });
  expect((await auditRows(api)).map(({ action }) => action)).toEqual([
    "org.schedule-deletion",
    "org.restore",
  ]);
  await api.db.sql`update organizations set created_at = now() - interval '1 year'`;
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(0);
});

test("deletion is refused with a wrong confirmation and for a personal organization", async () => {
  await using place = await openPlace();
  const { api, org, personalOrg, key } = place;
  for (const confirm of ["", org.slug.toUpperCase(), `${org.slug} `, personalOrg.slug]) {
    const { status, error } = await remove(api, key, org.slug, confirm);
    expect([status, error]).toMatchObject([
      400,
      { code: "VALIDATION_ERROR", details: { errors: [{ path: "confirm" }] } },
    ]);
  }
  const missing = await send(api, key, ["DELETE", org.slug], {});
  expect([missing.status, missing.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
  const personal = await remove(api, key, personalOrg.slug);
  expect([personal.status, personal.error?.code]).toEqual([409, "NOT_DELETABLE"]);
  expect(personal.error?.message).toContain("personal organization");
  expect(await api.db.sql`select 1 from organizations where deletes_at is not null`).toHaveLength(0);
  expect(await auditRows(api)).toHaveLength(0);
});

test.each(["admin", "publisher", "viewer", "outsider"] as const)(
  "%s can neither delete nor restore the organization",
  async (role) => {
    await using place = await openPlace();
    const { api, org, key: ownersKey } = place;
    const { user } = await api.make.person(role === "outsider" ? {} : { org, role: role as OrgRole });
    const { token: key } = await api.make.session({ userId: user.id });
    const code = role === "outsider" ? "ORG_ACCESS_DENIED" : "INSUFFICIENT_ORG_ROLE";
    expect(await remove(api, key, org.slug)).toMatchObject({ status: 403, error: { code } });
    await remove(api, ownersKey, org.slug);
    expect(await restore(api, key, org.slug)).toMatchObject({ status: 403, error: { code } });
    expect((await send(api, ownersKey, ["GET", org.slug])).data?.deletesAt).not.toBeNull();
    for (const call of [remove, restore]) {
      expect(await call(api, key, "no-such-org")).toMatchObject({
        status: 404,
        error: { code: "ORG_NOT_FOUND" },
      });
    }
  },
);

test("deletion and restore are refused for API keys, even an owner's", async () => {
  await using place = await openPlace();
  const { api, org, user } = place;
  const { key } = await api.make.key({ userId: user.id });
  for (const call of [remove, restore]) {
    expect(await call(api, key, org.slug)).toMatchObject({
      status: 403,
      error: { code: "SESSION_REQUIRED" },
    });
  }
});

test("of a restore and a due deletion that run concurrently, exactly one takes effect", async () => {
  await using place = await openPlace();
  const { api, key, user } = place;
  for (let round = 0; round < 8; round += 1) {
    const org = await api.make.org({ deletesAt: new Date(Date.now() - 1000).toISOString() });
    await api.make.member({ orgId: org.id, userId: user.id });
    const [restored, deleted] = await Promise.all([
      restore(api, key, org.slug),
      deleteOrganizations(api.deps, NEVER),
    ]);
    const [row] = await api.db.sql`select deletes_at, deleted_at from organizations where id = ${org.id}`;
    if (deleted === 1) {
      expect(row?.["deletedAt"]).not.toBeNull();
      expect(restored.status).toBeOneOf([403, 404]);
    } else {
      expect({ ...row }).toEqual({ deletesAt: null, deletedAt: null });
      expect([restored.status, restored.data?.deletesAt]).toEqual([200, null]);
    }
    const actions = await api.db.sql`select action from audit_log where org_id = ${org.id}`;
    expect([...actions]).toEqual([{ action: deleted === 1 ? "org.delete" : "org.restore" }]);
  }
});

test("a restore succeeds until the due deletion has run", async () => {
  await using place = await openPlace();
  const { api, key, user } = place;
  const org = await api.make.org({ deletesAt: new Date(Date.now() - 1000).toISOString() });
  await api.make.member({ orgId: org.id, userId: user.id });
  expect(await restore(api, key, org.slug)).toMatchObject({ status: 200, data: { deletesAt: null } });
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(0);
  await api.db.sql`update organizations set deletes_at = now() - interval '1 second' where id = ${org.id}`;
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(1);
  expect(await restore(api, key, org.slug)).toMatchObject({ status: 404, error: { code: "ORG_NOT_FOUND" } });
  for (const slug of [org.slug, "no-such-org"]) {
    const { status, error } = await send(api, key, ["GET", slug]);
    expect([status, error?.code, error?.message]).toEqual([
      404,
      "ORG_NOT_FOUND",
      "Organization not found. Check its slug.",
    ]);
  }
});

test("admin org delete and org restore apply the same rules as the API", async () => {
  await using place = await openPlace();
  const { api, org, personalOrg, key } = place;
  const { url } = api.db;
  const deletion = (slug: string, confirm = slug) => ["org", "delete", "--org", slug, "--confirm", confirm];
  expect((await runCommand(url, deletion(org.slug, "other"))).exitCode).toBe(2);
  const { deletesAt } = await runJson(url, deletion(org.slug));
  expect((await send(api, key, ["GET", org.slug])).data?.deletesAt).toBe(String(deletesAt));
  expect(await runJson(url, ["org", "restore", "--org", org.slug])).toMatchObject({ deletesAt: null });
  expect(await runFailing(url, deletion(personalOrg.slug))).toContain("It is a personal organization");
  expect(await runFailing(url, deletion("nobody"))).toBe(
    'Organization "nobody" not found. See `bun run admin org list`.',
  );
  expect((await auditRows(api)).map(({ actorType, action }) => [actorType, action])).toEqual([
    ["operator", "org.schedule-deletion"],
    ["operator", "org.restore"],
  ]);
});

test("an owner who is demoted during the request cannot delete the organization", async () => {
  await using place = await openPlace();
  const { api, org, user, key } = place;
  const answer = await commitDuring(
    api.db,
    (tx) =>
      tx`update organization_members set role = 'admin' where org_id = ${org.id} and user_id = ${user.id}`,
    () => remove(api, key, org.slug),
  );
  expect(answer).toMatchObject({ status: 403, error: { code: "INSUFFICIENT_ORG_ROLE" } });
  expect(await auditRows(api)).not.toContainEqual(
    expect.objectContaining({ action: "org.schedule-deletion" }),
  );
});
