/** The warning SAME_NAME_ELSEWHERE: another organization of the caller has a definition of this name. */
import { expect, test } from "bun:test";
import { agentYaml, type Caller, createAgent, write } from "../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

test("POST without an organization succeeds, but warns if another of the caller's organizations has the name", async () => {
  await using api = await openTestApp();
  const person = await api.make.person({ role: "publisher" });
  await createAgent(api, person, { name: "reviewer" });
  const yaml = agentYaml("reviewer", "1.1.0");
  const anywhere = { key: person.key };
  const warning = {
    code: "SAME_NAME_ELSEWHERE",
    message:
      `You can also write agent "reviewer" in ${person.org.slug}. This request names no organization, so it means ` +
      `"${person.personalOrg.slug}". Set X-Org-Slug to use another organization.`,
    details: { type: "agent", name: "reviewer", organizations: [person.org.slug] },
  };
  const created = await write(api, "/agent/reviewer", anywhere, { body: { yaml } });
  expect([created.status, await created.json()]).toMatchObject([
    ...[201, { data: { orgId: person.personalOrg.id }, warnings: [warning] }],
  ]);
  const next = agentYaml("reviewer", "1.2.0");
  const tried = await write(api, "/validate", anywhere, { body: { type: "agent", yaml: next } });
  expect(await tried.json()).toMatchObject({ data: { valid: true, warnings: [warning] } });
  const body = { definitions: [{ yaml: next }, { yaml: agentYaml("other") }] };
  const batch = await write(api, "/batch", anywhere, { body });
  expect(await batch.json()).toMatchObject({
    data: { definitions: [{ warnings: [warning] }, { warnings: [] }] },
  });
});

test("callers who name the organization or cannot write to the other organization get no warning", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const viewer = await api.make.person({ org: person.org, role: "viewer" });
  await createAgent(api, person, { name: "reviewer" });
  const bound = await api.make.key({ userId: person.user.id, orgId: person.personalOrg.id });
  const cases: readonly [string, Caller][] = [
    ["/agent/reviewer", { key: person.key, org: person.personalOrg }],
    [`/agent/@${person.personalOrg.slug}/reviewer`, { key: person.key }],
    ["/agent/reviewer", bound],
    ["/agent/reviewer", { key: viewer.key }],
    ["/agent/unique", { key: person.key }],
  ];
  for (const [index, [path, caller]] of cases.entries()) {
    const yaml = agentYaml(path.split("/").at(-1) ?? "", `2.0.${index}`);
    const response = await write(api, path, caller, { body: { yaml } });
    expect([path, response.status, Object.keys((await response.json()) as object)]).toEqual([
      ...[path, 201, ["data"]],
    ]);
  }
});
