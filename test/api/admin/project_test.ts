import { expect, test } from "bun:test";
import { createUser, runCommand, runFailing, runJson } from "../../helpers/accounts/admin.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const UUID = /^[0-9a-f-]{36}$/;
test("project create derives a free slug, and chooses an owner if none is given", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  const create = (name: string) => ["project", "create", "--org", "ann", "--name", name];
  const names = ["Café Menu (v2)", "cafe menu v2", "Cafe-Menu-V2", "日本"];
  const slugs: unknown[] = [];
  for (const name of names) {
    const project = await runJson(db.url, create(name));
    expect(project).toEqual({
      id: expect.stringMatching(UUID),
      name,
      slug: project["slug"],
      deletedAt: null,
    });
    slugs.push(project["slug"]);
  }
  expect(slugs).toEqual(["cafe-menu-v2", "cafe-menu-v2-2", "cafe-menu-v2-3", "project"]);
  expect(await runFailing(db.url, create("日本"))).toContain("Another project");
  for (const name of ["\u202egnp.exe", "\u200b", "two\nlines", "x".repeat(201)]) {
    expect((await runCommand(db.url, create(name))).exitCode).toBe(2);
  }
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  const inAcme = (name: string) => ["project", "create", "--org", "acme", "--name", name];
  const ownerOf = async (slug: unknown) => {
    const [row] = await db.sql`
      select u.username
      from projects p
      left join users u on u.id = p.owner_id
      where p.slug = ${slug as string}`;
    return row?.["username"];
  };
  expect(await ownerOf((await runJson(db.url, inAcme("Nobody")))["slug"])).toBeNull();
  expect(await runFailing(db.url, [...inAcme("P"), "--owner", "ann"])).toContain("not a member");
  await createUser(db.url, "bea");
  await runJson(db.url, ["member", "add", "--org", "acme", "--user", "ann", "--role", "viewer"]);
  await runJson(db.url, ["member", "add", "--org", "acme", "--user", "bea", "--role", "publisher"]);
  expect(await ownerOf((await runJson(db.url, inAcme("Highest")))["slug"])).toBe("bea");
  expect(await ownerOf((await runJson(db.url, [...inAcme("Named"), "--owner", "ann"]))["slug"])).toBe("ann");
});

test("project list sorts projects newest first, including deleted ones", async () => {
  await using api = await openTestApp();
  const { user, org } = await api.make.person();
  const deletedAt = "2026-01-01T00:00:00.000Z";
  const first = await api.make.project({ orgId: org.id, ownerId: user.id, deletedAt });
  const second = await api.make.project({ orgId: org.id, ownerId: user.id });
  const words = ["project", "list", "--org", org.slug];
  const { projects } = await runJson<{ projects: object[] }>(api.db.url, words);
  expect(projects).toMatchObject([
    { id: second.id, deletedAt: null },
    { id: first.id, deletedAt },
  ]);
});

test("project restore reports a project that is not deleted", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  await runJson(db.url, ["project", "create", "--org", "ann", "--name", "Checkout"]);
  const restore = () => runCommand(db.url, ["project", "restore", "--org", "ann", "--project", "Checkout"]);
  expect(await restore()).toMatchObject({
    exitCode: 0,
    err: 'Note: project "checkout" is not deleted. Nothing was changed.\n',
  });
  await runJson(db.url, ["project", "delete", "--org", "ann", "--project", "checkout"]);
  expect(await restore()).toMatchObject({ exitCode: 0, err: "" });
});
