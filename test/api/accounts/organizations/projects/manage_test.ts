import { expect, test } from "bun:test";
import type { OrgRole } from "../../../../../shared/vocabulary.ts";
import { auditRows } from "../../../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";

async function openPlace() {
  const api = await openTestApp();
  const { org, user } = await api.make.person({ role: "admin" });
  const { token: key } = await api.make.session({ userId: user.id });
  const call = (method: string, path: string, body?: object) =>
    send(api, key, [method, org.slug, path], body);
  return { api, org, user, key, call, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

interface Project {
  id: string;
  name: string;
  slug: string;
  deletedAt: string | null;
  restorableUntil: string | null;
}

interface Answer {
  status: number;
  data?: { project: Project; projects: Project[] };
  error?: { code: string; message: string };
}

async function send(
  api: TestApp,
  key: string,
  [method, slug, path]: [string, string, string],
  body?: object,
): Promise<Answer> {
  const address = `/api/v1/orgs/${slug}/projects${path}`;
  const response = await api.request(address, { method, key, ...(body && { body }) });
  return { status: response.status, ...((await response.json()) as object) };
}

test("a project gets the given slug, or a slug made from its name, numbered if that slug is taken", async () => {
  await using place = await openPlace();
  const { api, call, user, org } = place;
  const slugs: (string | undefined)[] = [];
  for (const body of [
    { name: "Checkout Service" },
    { name: "Checkout: service" },
    { name: "Checkout – Service" },
    { name: "Payments", slug: "pay" },
    { name: "日本" },
  ]) {
    const { status, data } = await call("POST", "", body);
    expect([status, data?.project.name]).toEqual([201, body.name]);
    slugs.push(data?.project.slug);
  }
  expect(slugs).toEqual(["checkout-service", "checkout-service-2", "checkout-service-3", "pay", "project"]);
  const list = await call("GET", "");
  expect(list.data?.projects.map(({ slug }) => slug)).toEqual(expect.arrayContaining(slugs));
  const [entry] = await auditRows(api);
  expect(entry).toMatchObject({
    ...{ actorUserId: user.id, action: "project.create", subjectType: "project" },
    details: { name: "Checkout Service", slug: "checkout-service" },
  });
  const [row] = await api.db.sql`select owner_id, org_id from projects where slug = 'pay'`;
  expect({ ...row }).toEqual({ ownerId: user.id, orgId: org.id });
});

test.each([
  ["name", { name: " " }],
  ["name", { name: "x".repeat(201) }],
  ["name", { name: "a\nb" }],
  ["name", {}],
  ["slug", { name: "Checkout", slug: "" }],
  ["slug", { name: "Checkout", slug: "Checkout" }],
  ["slug", { name: "Checkout", slug: "a--b" }],
  ["slug", { name: "Checkout", slug: "-a" }],
  ["slug", { name: "Checkout", slug: "a/b" }],
  ["slug", { name: "Checkout", slug: "x".repeat(61) }],
  ["slug", { name: "Checkout", slug: "c1d9a8f4-54b3-4f0e-9d7c-1f1f5a3f9b11" }],
  ["domain", { name: "Checkout", domain: "example.com" }],
])("a new project with an invalid %s is refused: %p", async (path, body) => {
  await using place = await openPlace();
  const { api, call } = place;
  const { status, error } = await call("POST", "", body);
  expect([status, error]).toMatchObject([400, { code: "VALIDATION_ERROR", details: { errors: [{ path }] } }]);
  expect(await api.db.sql`select 1 from projects`).toHaveLength(0);
});

test("project names and slugs must be unique only within their organization", async () => {
  await using place = await openPlace();
  const { api, org, user, call } = place;
  const other = await api.make.org();
  await api.make.project({ orgId: other.id, ownerId: user.id, name: "Search", slug: "search" });
  await call("POST", "", { name: "Checkout" });
  const name = await call("POST", "", { name: "Checkout" });
  expect([name.status, name.error]).toEqual([
    409,
    expect.objectContaining({
      code: "NAME_TAKEN",
      message: `Cannot create project "Checkout". Another project in organization "${org.slug}" has this name. Choose another name.`,
    }),
  ]);
  const slug = await call("POST", "", { name: "Else", slug: "checkout" });
  expect([slug.status, slug.error?.message]).toEqual([409, expect.stringContaining("has this slug")]);
  expect((await call("POST", "", { name: "Search" })).data?.project.slug).toBe("search");
});

test("a project is found by id, slug or name, slugs before names, but not by an earlier slug", async () => {
  await using place = await openPlace();
  const { api, org, key, call } = place;
  const { data } = await call("POST", "", { name: "Checkout" });
  const id = data?.project.id ?? "";
  const renamed = await call("PATCH", "/checkout", { name: "Till", slug: "till" });
  expect([renamed.status, renamed.data?.project]).toMatchObject([200, { id, name: "Till", slug: "till" }]);
  expect((await call("PATCH", `/${id}`, { name: "Till 2" })).data?.project.slug).toBe("till");
  expect((await call("PATCH", "/till", {})).data?.project.name).toBe("Till 2");
  const exported = async (name: string) => {
    const headers = { "x-org-slug": org.slug };
    const response = await api.request(`/api/v1/export/projects/${name}/issues`, { key, headers });
    await response.body?.cancel();
    return response.status;
  };
  expect([await exported("checkout"), await exported("till"), await exported(id)]).toEqual([404, 200, 200]);
  const entries = (await auditRows(api)).filter(({ action }) => action === "project.update");
  expect(entries.map(({ details }) => details)).toEqual([
    { name: "Till", slug: "till", fromName: "Checkout", fromSlug: "checkout" },
    { name: "Till 2", slug: "till", fromName: "Till", fromSlug: "till" },
  ]);
  await call("POST", "", { name: "Pay" });
  const others = await Promise.all([
    call("POST", "", { name: "till", slug: "other" }),
    call("PATCH", "/Till%202", {}),
    call("PATCH", "/Pay", {}),
  ]);
  expect(others.map(({ data: other }) => other?.project.slug)).toEqual(["other", "till", "pay"]);
  expect((await call("PATCH", "/till", {})).data?.project.id).toBe(id);
  expect((await call("PATCH", "/till", { name: "Pay" })).error?.code).toBe("NAME_TAKEN");
  expect((await call("PATCH", "/till", { slug: "pay" })).error?.code).toBe("NAME_TAKEN");
  expect((await call("PATCH", "/checkout", { name: "New" })).error?.code).toBe("PROJECT_NOT_FOUND");
});

test("if a slug is also another project's name, a request finds the project that it can apply to", async () => {
  await using place = await openPlace();
  const { api, call } = place;
  await call("POST", "", { name: "Old", slug: "till" });
  await call("POST", "", { name: "till", slug: "new" });
  const slugs: (string | undefined)[] = [];
  // The second DELETE of /till must not delete the project whose name is "till".
  for (const path of ["/till", "/till", "/new", "/till/restore", "/till/restore", "/till"]) {
    const method = path.endsWith("/restore") ? "POST" : "DELETE";
    slugs.push((await call(method, path)).data?.project.slug);
  }
  expect(slugs).toEqual(["till", undefined, "new", "till", "new", "till"]);
  expect((await call("PATCH", "/till", { name: "till" })).data?.project.slug).toBe("new");
  await call("DELETE", "/new");
  await api.db.sql`update projects set deleted_at = now() - interval '40 days' where slug = 'till'`;
  expect((await call("POST", "/till/restore")).data?.project.slug).toBe("new");
});

test("a project whose name looks like an id is found by that name, unless another project has that id", async () => {
  await using place = await openPlace();
  const { api, org, key, call } = place;
  const name = "ABCDEF00-0000-4000-8000-00000000ABCD";
  await call("POST", "", { name, slug: "named" });
  const exported = async (project: string, slug: string) => {
    const headers = { "x-org-slug": slug };
    const response = await api.request(`/api/v1/export/projects/${project}/issues`, { key, headers });
    await response.body?.cancel();
    return response.status;
  };
  expect([await exported(name, org.slug), await exported(name, "no-such-organization")]).toEqual([200, 404]);
  expect((await call("PATCH", `/${name}`, {})).data?.project.slug).toBe("named");
  const { data } = await call("POST", "", { name: "Till" });
  const id = data?.project.id ?? "";
  await call("PATCH", "/named", { name: id });
  expect((await call("PATCH", `/${id}`, {})).data?.project.slug).toBe("till");
  expect((await call("DELETE", `/${id}`)).data?.project.slug).toBe("till");
  expect((await call("DELETE", `/${id}`)).status).toBe(404);
});

test("a deleted project is excluded from exports, keeps its name and slug and can be restored unchanged", async () => {
  await using place = await openPlace();
  const { api, org, user, key, call } = place;
  const { data } = await call("POST", "", { name: "Checkout" });
  const id = data?.project.id ?? "";
  await api.make.issue({ projectId: id });
  const countIssues = async () => {
    const response = await api.request(`/api/v1/export/projects/${id}/issues`, { key });
    return response.status === 200 ? (await response.text()).trim().split("\n").length : response.status;
  };
  expect(await countIssues()).toBe(1);
  const gone = await call("DELETE", "/checkout");
  const { deletedAt, restorableUntil } = gone.data?.project ?? {};
  expect([gone.status, gone.data?.project.id]).toEqual([200, id]);
  expect(Date.parse(restorableUntil ?? "") - Date.parse(deletedAt ?? "")).toBe(30 * 86_400_000);
  expect([await countIssues(), (await call("GET", "")).data?.projects]).toEqual([404, []]);
  expect((await call("DELETE", "/checkout")).error?.code).toBe("PROJECT_NOT_FOUND");
  expect((await call("PATCH", "/checkout", { name: "New" })).error?.code).toBe("PROJECT_NOT_FOUND");
  expect((await call("GET", "/deleted")).data?.projects).toEqual([gone.data?.project as Project]);
  const taken = await call("POST", "", { name: "Checkout" });
  expect([taken.status, taken.error?.message]).toEqual([
    409,
    `Cannot create project "Checkout". A deleted project in organization "${org.slug}" has this name. Restore it, or choose another name.`,
  ]);
  const second = await call("POST", "", { name: "checkout" });
  expect(second.data?.project.slug).toBe("checkout-2");
  for (let n = 0; n < 2; n += 1) {
    const back = await call("POST", "/checkout/restore");
    expect([back.status, back.data?.project]).toMatchObject([
      200,
      { id, deletedAt: null, restorableUntil: null },
    ]);
  }
  expect(await countIssues()).toBe(1);
  const actions = (await auditRows(api))
    .filter(({ subjectId }) => subjectId === id)
    .map(({ action }) => action);
  expect(actions.filter((action) => !action.startsWith("export"))).toEqual([
    "project.create",
    "project.delete",
    "project.restore",
  ]);
  expect(user.id).toBeString();
});

test("after thirty days, a deleted project cannot be restored, and its name and slug are free", async () => {
  await using place = await openPlace();
  const { api, call } = place;
  const { data } = await call("POST", "", { name: "Checkout" });
  await call("DELETE", "/checkout");
  await api.db.sql`update projects set deleted_at = now() - interval '30 days' - interval '1 second'`;
  expect((await call("GET", "/deleted")).data?.projects).toEqual([]);
  expect((await call("POST", "/checkout/restore")).error?.code).toBe("PROJECT_NOT_FOUND");
  const again = await call("POST", "", { name: "Checkout" });
  expect([again.status, again.data?.project.slug]).toEqual([201, "checkout"]);
  const [old] = await api.db.sql`select name, slug from projects where id = ${data?.project.id ?? null}`;
  expect({ ...old }).toEqual({ name: `Checkout (${data?.project.id})`, slug: data?.project.id });
  expect((await call("POST", `/${data?.project.id}/restore`)).error?.code).toBe("PROJECT_NOT_FOUND");
});

test.each(["publisher", "viewer", "outsider"] as const)("a %s cannot change projects", async (role) => {
  await using place = await openPlace();
  const { api, org, call } = place;
  await call("POST", "", { name: "Checkout" });
  const { user } = await api.make.person(role === "outsider" ? {} : { org, role: role as OrgRole });
  const { token: key } = await api.make.session({ userId: user.id });
  const code = role === "outsider" ? "ORG_ACCESS_DENIED" : "INSUFFICIENT_ORG_ROLE";
  for (const [method, path, body] of [
    ["POST", "", { name: "Mine" }],
    ["PATCH", "/checkout", { name: "Mine" }],
    ["DELETE", "/checkout"],
    ["DELETE", "/nothing"],
    ["POST", "/checkout/restore"],
    ["GET", "/deleted"],
  ] as const) {
    const { status, error } = await send(api, key, [method, org.slug, path], body);
    expect([method, path, status, error?.code]).toEqual([method, path, 403, code]);
    const nowhere = await send(api, key, [method, "no-such-org", path], body);
    expect([nowhere.status, nowhere.error?.code]).toEqual([404, "ORG_NOT_FOUND"]);
  }
  expect([...(await api.db.sql`select name, deleted_at from projects`)]).toEqual([
    { name: "Checkout", deletedAt: null },
  ]);
});

test("another organization's project is not found, and an API key cannot create projects", async () => {
  await using place = await openPlace();
  const { api, org, user, call } = place;
  const stranger = await api.make.person();
  const { id, slug, name } = await api.make.project({ orgId: stranger.org.id, ownerId: stranger.user.id });
  for (const project of [id, slug, "nothing"]) {
    for (const [method, path, body] of [
      ["PATCH", "", { name: "Mine" }],
      ["DELETE", ""],
      ["POST", "/restore"],
    ] as const) {
      const { status, error } = await call(method, `/${project}${path}`, body);
      expect([method, project, status, error?.code]).toEqual([method, project, 404, "PROJECT_NOT_FOUND"]);
    }
  }
  expect([...(await api.db.sql`select name, deleted_at from projects`)]).toEqual([{ name, deletedAt: null }]);
  expect((await call("DELETE", "/%00")).status).toBe(400);
  const { key } = await api.make.key({ userId: user.id });
  const refused = await send(api, key, ["POST", org.slug, ""], { name: "Checkout" });
  expect([refused.status, refused.error?.code]).toEqual([403, "SESSION_REQUIRED"]);
});
