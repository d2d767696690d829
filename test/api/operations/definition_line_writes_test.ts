/** How a write to a definition determines its organization, and how errors name the organization. */
import { expect, test } from "bun:test";
import { agentYaml, ask, makeDefinition, write } from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import type { OrgRow, Person } from "../../helpers/postgres/factory.ts";

/** The writes to a definition line, each with the status that version 1.0.0 must have beforehand. */
const WRITES = [
  { method: "PUT", path: "@1.0.0", status: "draft", body: { tags: ["x"] } },
  { method: "POST", path: "@1.0.0/publish", status: "draft" },
  { method: "POST", path: "@1.0.0/deprecate", status: "published", body: { reason: "x" } },
  { method: "POST", path: "@1.0.0/archive", status: "deprecated" },
  { method: "POST", path: "@1.0.0/retranslate", status: "published" },
  { method: "POST", path: "/upgrade", status: "published", body: { yaml: "" } },
  { method: "DELETE", path: "@1.0.0", status: "draft" },
] as const;

type Write = (typeof WRITES)[number];

function send(
  api: TestApp,
  place: string,
  { method, path, ...given }: Write,
  caller: Parameters<typeof ask>[2],
) {
  const name = place.split("/").at(-1) ?? "";
  const body = path === "/upgrade" ? { yaml: agentYaml(name) } : "body" in given ? given.body : undefined;
  return ask(api, `/agent/${place}${path}`, caller, { method, body });
}

async function errorBodyOf(response: Response) {
  const { error } = (await response.json()) as {
    error: { code: string; message: string; details?: Record<string, unknown> };
  };
  return { status: response.status, ...error };
}

/** Creates a user and gives `person` a role in that user's organization. Returns the new user. */
async function joinSecond(api: TestApp, person: Person, role: "publisher" | "viewer"): Promise<Person> {
  const second = await api.make.person();
  await api.db.sql`
    insert into organization_members (org_id, user_id, role) values (${second.org.id}, ${person.user.id}, ${role})`;
  return second;
}

test("a write without an organization uses the only organization in which the caller may write", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const viewed = await joinSecond(api, person, "viewer");
  for (const [index, one] of WRITES.entries()) {
    const name = `line-${index}`;
    await makeDefinition(api.db.sql, person, { name, status: one.status });
    await makeDefinition(api.db.sql, viewed, { name, status: one.status });
    const response = await send(api, name, one, { key: person.key });
    expect([one.path, response.ok, await response.text()]).toEqual([one.path, true, expect.any(String)]);
  }
  const [{ count } = { count: 0 }] = await api.db.sql<{ count: number }[]>`
    select count(*)::int as count from audit_log where org_id = ${person.org.id}`;
  expect(count).toBe(WRITES.length);
});

test("an ambiguous write returns 409 and the possible organizations, unless the path or X-Org-Slug names one", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const second = await joinSecond(api, person, "publisher");
  const slugs = [person.org.slug, second.org.slug].toSorted();
  const stranger = await api.make.person();
  const choices: ((org: OrgRow, name: string) => [string, { key: string; org?: OrgRow }])[] = [
    (org, name) => [`@${org.slug}/${name}`, { key: person.key }],
    (org, name) => [name, { key: person.key, org }],
    (org, name) => [`@${org.slug}/${name}`, { key: person.key, org }],
  ];
  for (const [index, one] of WRITES.entries()) {
    for (const [choice, choose] of choices.entries()) {
      const name = `line-${index}-${choice}`;
      for (const owner of [person, second, stranger]) {
        await makeDefinition(api.db.sql, owner, { name, status: one.status, visibility: "public" });
      }
      const refused = await errorBodyOf(await send(api, name, one, { key: person.key }));
      expect(refused).toMatchObject({
        status: 409,
        code: "AMBIGUOUS_ORGANIZATION",
        details: { organizations: slugs },
      });
      for (const slug of slugs) expect(refused.message).toContain(slug);
      const [place, caller] = choose(second.org, name);
      expect([place, (await send(api, place, one, caller)).ok]).toEqual([place, true]);
    }
  }
});

test("without a writable organization, a write returns 403 for members and 404 for other callers", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const viewer = await api.make.person({ org: owner.org, role: "viewer" });
  const stranger = await api.make.person();
  const bound = await api.make.key({ userId: owner.user.id, orgId: owner.personalOrg.id });
  for (const [index, one] of WRITES.entries()) {
    const name = `line-${index}`;
    await makeDefinition(api.db.sql, owner, { name, status: one.status });
    const member = await errorBodyOf(await send(api, name, one, { key: viewer.key }));
    expect(member).toMatchObject({ status: 403, code: "INSUFFICIENT_ORG_ROLE" });
    expect(member.message).toContain(`Your role in organization "${owner.org.slug}" is viewer`);
    for (const caller of [{ key: stranger.key }, bound]) {
      for (const organization of ["", `@${owner.org.slug}/`]) {
        const hidden = await errorBodyOf(await send(api, `${organization}${name}`, one, caller));
        const none = await errorBodyOf(await send(api, `${organization}nothing`, one, caller));
        const text = JSON.stringify([hidden.status, hidden.code, hidden.message, hidden.details]);
        expect(text.replaceAll(name, "nothing")).toBe(
          JSON.stringify([404, none.code, none.message, none.details]),
        );
      }
    }
  }
});

test("a stranger who writes to a public definition learns that only members can write", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const stranger = await api.make.person();
  await makeDefinition(api.db.sql, owner, { name: "open", status: "published", visibility: "public" });
  const path = `/agent/@${owner.org.slug}/open@1.0.0/archive`;
  const refused = await errorBodyOf(await write(api, path, { key: stranger.key }));
  expect(refused).toMatchObject({ status: 403, code: "ORG_ACCESS_DENIED" });
  expect(refused.message).toContain(owner.org.slug);
});

test("creating and forking use the organization of the request, and errors name the organization", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const viewer = await api.make.person({ org: owner.org, role: "viewer" });
  const { slug } = owner.org;
  const body = { yaml: agentYaml("new") };
  const created = await write(api, `/agent/@${slug}/new`, { key: owner.key }, { body });
  expect([created.status, (await created.json()) as unknown]).toEqual([
    201,
    expect.objectContaining({ data: expect.objectContaining({ namespace: `@${slug}/new` }) }),
  ]);
  await makeDefinition(api.db.sql, owner, { name: "open", status: "published", visibility: "public" });
  const refusals = [
    await write(api, `/agent/@${slug}/other`, { key: viewer.key }, { body: { yaml: agentYaml("other") } }),
    await write(api, "/agent/other", viewer, { body: { yaml: agentYaml("other") } }),
    await write(api, "/agent/open/fork", viewer, { body: { name: "mine" } }),
  ];
  for (const response of refusals) {
    const { code, message } = await errorBodyOf(response);
    expect([code, message]).toEqual([
      "INSUFFICIENT_ORG_ROLE",
      `This requires the publisher role or above. Your role in organization "${slug}" is viewer. Set X-Org-Slug to use another organization.`,
    ]);
  }
});

test("queueing an export reports which organization lacks a paid tier", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const response = await api.request("/api/v1/export/jobs", { method: "POST", key: person.key });
  const { code, message } = await errorBodyOf(response);
  expect([code, message]).toEqual([
    "SUBSCRIPTION_REQUIRED",
    `This requires the hobbyist tier or above. Organization "${person.personalOrg.slug}" is on the free tier. Set X-Org-Slug to use another organization.`,
  ]);
});
