import { expect, test } from "bun:test";
import { noticeAfter, openPage } from "../../../helpers/pages/forms.ts";
import { HOSTILE, openPageScene, readPage, submitForm } from "../../../helpers/pages/page_scene.ts";

test("an admin creates, renames, deletes and restores a project without a script", async () => {
  await using scene = await openPageScene();
  const { api, org } = scene;
  const { token } = await scene.visitor("admin");
  const path = `/orgs/${org.slug}/projects`;
  expect(await readPage(api, path, token)).toContain("This organization has no projects.");
  const fields = { name: `Checkout ${HOSTILE}`, slug: "" };
  const sent = await submitForm(api, path, { token, heading: "new-title", fields });
  expect(await noticeAfter(api, sent, token)).toBe("Project created.");
  const [row] = await api.db.sql<[{ id: string; name: string }]>`select id, name from projects`;
  expect(row.name).toBe(fields.name);
  const page = `${path}/${row.id}`;
  expect(await readPage(api, path, token)).toContain(`href="${page}"`);
  const renamed = await submitForm(api, page, {
    ...{ token, heading: "rename-title" },
    fields: { name: "Till", slug: "till" },
  });
  expect([renamed.headers.get("location"), await noticeAfter(api, renamed, token)]).toEqual([
    page,
    "Project saved.",
  ]);
  const deleted = await submitForm(api, page, { token, heading: "delete-title", fields: {} });
  expect(deleted.headers.get("location")).toBe(path);
  expect(await noticeAfter(api, deleted, token)).toBe("Project deleted. It can be restored for 30 days.");
  expect((await openPage(api, page, token)).status).toBe(404);
  const list = await readPage(api, path, token);
  expect(list).toContain('Restore<span class="visually-hidden"> Till</span>');
  expect(list).toMatch(/<time datetime="(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[^"]*">\1 \2 UTC<\/time>/);
  const restored = await submitForm(api, path, { token, heading: "deleted-title", fields: {} });
  expect(await noticeAfter(api, restored, token)).toBe("Project restored.");
  expect(await readPage(api, page, token)).toContain('value="till"');
});

test("an error is shown at its field, and the input is kept", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const { id } = await api.make.project({
    orgId: org.id,
    ownerId: owner.user.id,
    name: "Checkout",
    slug: "checkout",
  });
  const path = `/orgs/${org.slug}/projects`;
  for (const [at, heading, fields, status, text] of [
    ["", "new-title", { name: "Checkout", slug: "" }, 409, "Another project in organization"],
    ["", "new-title", { name: "New", slug: "A b" }, 400, "Must be 1 to 60 characters"],
    [`/${id}`, "rename-title", { name: " ", slug: "checkout" }, 400, "Must not be empty"],
  ] as const) {
    const sent = await submitForm(api, path + at, { token: owner.token, heading, fields });
    const page = await sent.text();
    expect([sent.status, page.includes(text)]).toEqual([status, true]);
    expect(page).toContain(`value="${fields.slug}"`);
  }
});

test("publishers and viewers see projects without forms and cannot open the page of a project", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const { id } = await api.make.project({ orgId: org.id, ownerId: owner.user.id });
  for (const role of ["publisher", "viewer"] as const) {
    const { token } = await scene.visitor(role);
    const list = await readPage(api, `/orgs/${org.slug}/projects`, token);
    expect([list.includes("new-title"), list.includes(`/projects/${id}`)]).toEqual([false, false]);
    expect((await openPage(api, `/orgs/${org.slug}/projects/${id}`, token)).status).toBe(403);
  }
});

test("a free organization's usage page says whom to ask for a subscription, and its exports page links there", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const usage = `/orgs/${org.slug}/usage`;
  expect(await readPage(api, usage, owner.token)).not.toContain("Free tier");
  await api.db.sql`update organizations set subscription_tier = 'free' where id = ${org.id}`;
  expect(await readPage(api, usage, owner.token)).toContain("Ask the operator of this service");
  Object.assign(api.deps.config, { supportContact: "mailto:sales@ulr.example" });
  expect(await readPage(api, usage, owner.token)).toContain(
    '<a href="mailto:sales@ulr.example">sales@ulr.example</a>',
  );
  const exports = await (await openPage(api, "/dashboard/exports", owner.token, org.slug)).text();
  expect(exports).toContain(`href="${usage}#subscription"`);
});

test("a long list of projects is split into pages", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  await api.db.sql`
    insert into projects (org_id, owner_id, name, slug)
    select ${org.id}, ${owner.user.id}, 'Unit ' || to_char(n, 'fm000'), 'unit-' || n from generate_series(1, 250) n`;
  const path = `/orgs/${org.slug}/projects`;
  const first = await readPage(api, path, owner.token);
  expect(first).toContain("1–200 of 250");
  expect(first).toContain(`href="${path}?offset=200"`);
  expect(first).not.toContain("Unit 201");
  const second = await readPage(api, `${path}?offset=200`, owner.token);
  expect([second.match(/Unit \d+/g)?.at(0), second.includes("Unit 250")]).toEqual(["Unit 201", true]);
});

test("deleted projects have their own pager, whose links keep the current page of existing projects", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  await api.db.sql`
    insert into projects (org_id, owner_id, name, slug, deleted_at)
    select
      ${org.id}, ${owner.user.id}, 'Unit ' || to_char(n, 'fm000'), 'unit-' || n,
      case when n <= 250 then now() - make_interval(mins => n) end
    from generate_series(1, 500) n`;
  const path = `/orgs/${org.slug}/projects`;
  const first = await readPage(api, `${path}?offset=200`, owner.token);
  const restoring = (text: string) => text.match(/name="restore"/g)?.length;
  expect([restoring(first), first.includes("1–200 of 250"), first.includes("201–250 of 250")]).toEqual([
    ...[200, true, true],
  ]);
  expect(first).toContain(`href="${path}?offset=200&amp;deleted=200"`);
  const second = await readPage(api, `${path}?offset=200&deleted=200`, owner.token);
  expect([restoring(second), second.includes("Unit 201"), second.includes("Unit 251")]).toEqual([
    50,
    true,
    false,
  ]);
  expect(second).toContain(`href="${path}?offset=200"`);
  expect(second).toContain(`href="${path}?deleted=200"`);
});
