import { expect, test } from "bun:test";
import { auditRows } from "../../helpers/accounts/accounts.ts";
import { runCommand, runFailing, runJson } from "../../helpers/accounts/admin.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const UUID = /^[0-9a-f-]{36}$/;
test("org create and set-tier print the organization", async () => {
  await using db = await openTestDatabase();
  const org = await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme Inc"]);
  expect(org).toEqual({
    id: expect.stringMatching(UUID),
    slug: "acme",
    name: "Acme Inc",
    subscriptionTier: "free",
    deletesAt: null,
  });
  const moved = await runJson(db.url, ["org", "set-tier", "--org", "acme", "--tier", "enterprise"]);
  expect(moved).toEqual({ ...org, subscriptionTier: "enterprise" });
  expect(await runFailing(db.url, ["org", "create", "--slug", "acme", "--name", "A"])).toContain(
    "The slug is taken",
  );
  expect(await runFailing(db.url, ["org", "set-tier", "--org", "none", "--tier", "pro"])).toContain('"none"');
  const details = await db.sql`select details from audit_log where action = 'org.set-tier'`;
  expect(details.map((row) => row["details"])).toEqual([{ from: "free", to: "enterprise" }]);
});

test("org list sorts organizations newest first", async () => {
  await using api = await openTestApp();
  await api.make.person();
  const newest = await api.make.org();
  const { organizations } = await runJson<{ organizations: object[] }>(api.db.url, ["org", "list"]);
  expect(organizations[0]).toMatchObject({ id: newest.id, memberCount: 0, subscriptionTier: "pro" });
  expect(organizations).toHaveLength(3);
});

test("org update changes only the given fields", async () => {
  await using api = await openTestApp();
  const { org } = await api.make.person();
  const words = ["org", "update", "--org", org.slug, "--name", "Acme", "--description", "Makes things"];
  expect(await runJson(api.db.url, words)).toMatchObject({ slug: org.slug, name: "Acme" });
  const [row] = await api.db
    .sql`select name, description, website_url from organizations where id = ${org.id}`;
  expect(row).toEqual({ name: "Acme", description: "Makes things", websiteUrl: null });
  expect((await auditRows(api)).at(-1)).toMatchObject({
    ...{ actorType: "operator", action: "org.update", subjectId: org.id },
    details: { changed: "name, description" },
  });
});

test("org update refuses a website that is not an http or https URL", async () => {
  await using api = await openTestApp();
  const { org } = await api.make.person();
  for (const website of ["javascript:alert(1)", "ftp://acme.example"]) {
    const { exitCode, err } = await runCommand(api.db.url, [
      "org",
      "update",
      "--org",
      org.slug,
      "--website",
      website,
    ]);
    expect([exitCode, err]).toEqual([2, "--website must be an http or https URL\n"]);
  }
});

test("org restore reports an organization that is not deleted", async () => {
  await using db = await openTestDatabase();
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  const restore = () => runCommand(db.url, ["org", "restore", "--org", "acme"]);
  expect(await restore()).toMatchObject({
    exitCode: 0,
    err: 'Note: organization "acme" is not deleted. Nothing was changed.\n',
  });
  await runJson(db.url, ["org", "delete", "--org", "acme", "--confirm", "acme"]);
  expect(await restore()).toMatchObject({ exitCode: 0, err: "" });
});
