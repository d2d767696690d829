/** Sessions without a second factor see no private data of an organization that requires one, on any route. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { agentYaml, ask, makeDefinition, publishAgent } from "../../../helpers/definitions/definitions.ts";
import { jobOf, postJob } from "../../../helpers/exports/export_job.ts";
import { expectedOf } from "../../../helpers/http/access_classes.ts";
import { askAll, type Row } from "../../../helpers/http/access_rows.ts";
import { type AccessScene, openAccessScene } from "../../../helpers/http/access_scene.ts";
import { ACCESS_TABLE } from "../../../helpers/http/access_table.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { OrgRow, Person } from "../../../helpers/postgres/factory.ts";

let scene: AccessScene;
beforeAll(async () => {
  scene = await openAccessScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

async function setRequired(
  { db }: Pick<TestApp, "db">,
  { id }: Pick<OrgRow, "id">,
  isRequired: boolean,
): Promise<void> {
  await db.sql`update organizations set require_second_factor = ${isRequired} where id = ${id}`;
}

/** Returns the scene, changed so that the owner uses a session instead of a key. */
function asOwner(columns: object): AccessScene {
  const { user, org } = scene.placeOf("owner").owner;
  const owner = async () => {
    // The row's resource is created while the organization requires no second factor.
    await setRequired(scene.api, org, false);
    const { token } = await scene.api.make.session({ userId: user.id, ...columns });
    return { userId: user.id, key: token };
  };
  return { ...scene, callers: { ...scene.callers, owner } };
}

/** Returns the row, changed so that its organization requires a second factor once the row's resource exists. */
function closing(row: Row): Row {
  return {
    ...row,
    of: async (occasion) => {
      const subject = (await row.of?.(occasion)) ?? "";
      await setRequired(scene.api, occasion.place.org, true);
      return subject;
    },
  };
}

/** The rows that members may access and strangers may not. */
const MEMBER_ROWS = ACCESS_TABLE.filter(
  ({ access, ok }) =>
    expectedOf(access, "outsider", ok) !== String(ok) && expectedOf(access, "owner", ok) === String(ok),
);

test("on every route for members, an owner gets nothing without a second factor and everything with a second factor", async () => {
  expect(MEMBER_ROWS.length).toBeGreaterThan(50);
  for (const row of MEMBER_ROWS) {
    const title = `${row.route} ${row.about ?? ""}`;
    const [unproven] = await askAll(asOwner({}), closing(row), { callers: ["owner"] });
    const isClosed = ["403 SECOND_FACTOR_REQUIRED", "404 NOT_FOUND"].includes(unproven?.verdict ?? "");
    expect([title, isClosed ? "closed" : unproven?.verdict]).toEqual([title, "closed"]);
    const factorAt = new Date().toISOString();
    const [proven] = await askAll(asOwner({ factorAt }), closing(row), { callers: ["owner"] });
    expect([title, proven?.verdict]).toEqual([title, String(row.ok)]);
  }
});

interface Place {
  api: TestApp;
  person: Person;
  unproven: string;
  proven: string;
}

async function openPlace(): Promise<Place & AsyncDisposable> {
  const api = await openTestApp();
  const person = await api.make.person();
  const { user, org } = person;
  const unproven = (await api.make.session({ userId: user.id })).token;
  const proven = (await api.make.session({ userId: user.id, factorAt: new Date().toISOString() })).token;
  await publishAgent(api, { key: person.key, org }, { name: "open", visibility: "public" });
  await makeDefinition(api.db.sql, person, { name: "inside", status: "published", visibility: "private" });
  await setRequired(api, org, true);
  return { api, person, unproven, proven, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

async function namesIn(api: TestApp, key: string): Promise<string[]> {
  const response = await ask(api, "", { key });
  const { data } = (await response.json()) as { data: { definitions: { name: string }[] } };
  return data.definitions.map(({ name }) => name).toSorted();
}

test("lists and lookups omit private data of an organization that requires a second factor", async () => {
  await using place = await openPlace();
  const { api, person, unproven, proven } = place;
  expect(await namesIn(api, unproven)).toEqual(["open"]);
  for (const key of [proven, person.key]) expect(await namesIn(api, key)).toEqual(["inside", "open"]);
  const statusOf = async (path: string, key: string) => (await api.request(`/api/v1${path}`, { key })).status;
  for (const path of ["/definitions/agent/inside", `/definitions/agent/@${person.org.slug}/inside`]) {
    expect([await statusOf(path, unproven), await statusOf(path, proven)]).toEqual([404, 200]);
  }
  const events = async (key: string) => {
    const response = await api.request("/api/v1/events", { key });
    return ((await response.json()) as { data: { events: unknown[] } }).data.events.length;
  };
  const { id } = await jobOf(await postJob(api, person));
  await api.request(`/api/v1/export/jobs/${id}/cancel`, { method: "POST", key: person.key });
  // Everyone may see the event of the public definition. Only members may see the event of the canceled export.
  expect([await events(unproven), await events(proven)]).toEqual([1, 2]);
});

test("a member without a second factor sees only that the organization requires a second factor", async () => {
  await using place = await openPlace();
  const { api, person, unproven, proven } = place;
  const read = async (path: string, key: string) => (await api.request(`/api/v1${path}`, { key })).json();
  const needs = async (key: string) => {
    const { data } = (await read("/auth/me", key)) as {
      data: { organizations: { slug: string; needsSecondFactor: boolean }[] };
    };
    return data.organizations.find(({ slug }) => slug === person.org.slug)?.needsSecondFactor;
  };
  expect([await needs(unproven), await needs(proven), await needs(person.key)]).toEqual([true, false, false]);
  expect(JSON.stringify(await read("/orgs", unproven))).not.toContain(person.org.slug);
  expect(JSON.stringify(await read("/orgs", proven))).toContain(person.org.slug);
  expect(await read(`/orgs/${person.org.slug}`, unproven)).toMatchObject({
    error: {
      code: "SECOND_FACTOR_REQUIRED",
      message: expect.stringContaining(`"${person.org.slug}" requires a second factor`),
      details: { organization: person.org.slug },
    },
  });
});

test("a stored response is not replayed to a session without a second factor", async () => {
  await using place = await openPlace();
  const { api, person, unproven, proven } = place;
  const post = (key: string) =>
    api.request(`/api/v1/orgs/${person.org.slug}/webhooks`, {
      method: "POST",
      key,
      headers: { "idempotency-key": "once" },
      body: { url: "https://example.com/hook", types: ["export.ready"] },
    });
  expect((await post(proven)).status).toBe(201);
  expect((await post(unproven)).status).toBe(422);
});

test("a stored response is not replayed to the session that got it while the organization requires a second factor", async () => {
  await using place = await openPlace();
  const { api, person, unproven } = place;
  const { org } = person;
  const post = () =>
    api.request("/api/v1/definitions/agent/reviewer", {
      method: "POST",
      key: unproven,
      headers: { "idempotency-key": "once", "x-org-slug": org.slug },
      body: { yaml: agentYaml("reviewer") },
    });
  await setRequired(api, org, false);
  expect((await post()).status).toBe(201);
  await setRequired(api, org, true);
  const refused = await post();
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({
    error: { code: "SECOND_FACTOR_REQUIRED", details: { organization: org.slug } },
  });
  await setRequired(api, org, false);
  const repeated = await post();
  expect([repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
});
