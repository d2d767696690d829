import { expect, test } from "bun:test";
import { PROJECTS_MAX } from "../../../../api/accounts/organizations/project_changes.ts";
import { auditRows } from "../../../helpers/accounts/accounts.ts";
import { runFailing, runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

async function openPlace() {
  const api = await openTestApp();
  const { org, user } = await api.make.person({ role: "owner" });
  const { token: key } = await api.make.session({ userId: user.id });
  return { api, org, user, key, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

async function post(api: TestApp, key: string, path: string, body?: object) {
  const response = await api.request(`/api/v1/orgs/${path}`, { method: "POST", key, ...(body && { body }) });
  const { error } = (await response.json()) as { error?: { code: string } };
  return error?.code ?? String(response.status);
}

/** Adds `count` live projects to an organization. */
async function addProjects(api: TestApp, orgId: string, count: number): Promise<void> {
  await api.db.sql`
    insert into projects (org_id, name, slug, owner_id)
    select ${orgId}, 'P' || n, 'p' || n, gen_random_uuid() from generate_series(1, ${count}::int) as n`;
}

test("only one of three concurrent requests creates the last project that the quota allows", async () => {
  await using place = await openPlace();
  const { api, org, key } = place;
  await addProjects(api, org.id, PROJECTS_MAX - 1);
  const results = await Promise.all(
    ["A", "B", "C"].map((name) => post(api, key, `${org.slug}/projects`, { name })),
  );
  expect(results.toSorted()).toEqual(["201", "QUOTA_EXCEEDED", "QUOTA_EXCEEDED"]);
});

test("deleted projects count toward the quota while users can restore them, and admin restores obey the quota", async () => {
  await using place = await openPlace();
  const { api, org, key } = place;
  await addProjects(api, org.id, PROJECTS_MAX);
  await api.db.sql`update projects set deleted_at = now() where slug = 'p7'`;
  expect(await post(api, key, `${org.slug}/projects`, { name: "New" })).toBe("QUOTA_EXCEEDED");
  expect(await post(api, key, `${org.slug}/projects/p7/restore`)).toBe("200");
  await api.db.sql`update projects set deleted_at = now() - interval '31 days' where slug = 'p7'`;
  expect(await post(api, key, `${org.slug}/projects`, { name: "New" })).toBe("201");
  const words = ["project", "restore", "--org", org.slug, "--project", "p7"];
  expect(await runFailing(api.db.url, words)).toContain("has 10,000 projects, the maximum");
});

test("concurrent requests cannot create two projects with the same name or slug", async () => {
  await using place = await openPlace();
  const { api, org, key } = place;
  const path = `${org.slug}/projects`;
  const same = await Promise.all([1, 2, 3].map(() => post(api, key, path, { name: "Checkout" })));
  expect(same.toSorted()).toEqual(["201", "NAME_TAKEN", "NAME_TAKEN"]);
  const alike = await Promise.all(["pay", "Pay", "PAY"].map((name) => post(api, key, path, { name })));
  expect(alike).toEqual(["201", "201", "201"]);
  const slugs = await api.db.sql<
    { slug: string }[]
  >`select slug from projects where slug like 'pay%' order by slug`;
  expect(slugs.map(({ slug }) => slug)).toEqual(["pay", "pay-2", "pay-3"]);
});

test("a project name without ASCII letters gets a slug with the first free number", async () => {
  await using place = await openPlace();
  const { api, org, key, user } = place;
  const path = `${org.slug}/projects`;
  await api.db.sql`
    insert into projects (org_id, owner_id, name, slug)
    select ${org.id}, ${user.id}, n::text, 'project' || case when n > 1 then '-' || n else '' end
    from generate_series(1, 3000) as n
    where n <> 2000`;
  expect(await post(api, key, path, { name: "検索" })).toBe("201");
  expect(await post(api, key, path, { name: "Поиск" })).toBe("201");
  const rows = await api.db
    .sql`select slug from projects where name in ('検索', 'Поиск') order by created_at`;
  expect(rows.map(({ slug }) => slug as string)).toEqual(["project-2000", "project-3001"]);
});

test("a failed audit entry rolls back the change to the project", async () => {
  await using place = await openPlace();
  const { api, org, key, user } = place;
  const { slug } = await api.make.project({ orgId: org.id, ownerId: user.id });
  await api.db.owner`alter table audit_log add constraint no_entries_check check (false) not valid`;
  for (const [method, body] of [["PATCH", { name: "New" }], ["DELETE"]] as const) {
    const path = `/api/v1/orgs/${org.slug}/projects/${slug}`;
    expect((await api.request(path, { method, key, ...(body && { body }) })).status).toBe(500);
  }
  const [row] = await api.db.sql`select name, deleted_at from projects`;
  expect([row?.["name"] === "New", row?.["deletedAt"]]).toEqual([false, null]);
});

test("admin project create, rename and delete follow the API's rules; restore has no deadline", async () => {
  await using place = await openPlace();
  const { api, org } = place;
  const { url } = api.db;
  const at = ["--org", org.slug, "--project"];
  await runJson(url, ["project", "create", "--org", org.slug, "--name", "Checkout", "--slug", "till"]);
  const renamed = await runJson(url, ["project", "rename", ...at, "till", "--name", "Till 2"]);
  expect(renamed).toMatchObject({ name: "Till 2", slug: "till", deletedAt: null });
  expect(await runJson(url, ["project", "delete", ...at, "till"])).toMatchObject({
    deletedAt: expect.any(String),
  });
  expect(await runFailing(url, ["project", "delete", ...at, "till"])).toBe(
    `Project "till" not found in organization "${org.slug}".`,
  );
  await api.db.sql`update projects set deleted_at = now() - interval '1 year'`;
  expect(await runJson(url, ["project", "restore", ...at, "till"])).toMatchObject({ deletedAt: null });
  expect((await auditRows(api)).map(({ actorType, action }) => [actorType, action])).toEqual([
    ["operator", "project.create"],
    ["operator", "project.update"],
    ["operator", "project.delete"],
    ["operator", "project.restore"],
  ]);
});
