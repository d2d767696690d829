import { expect, test } from "bun:test";
import { encodeCursor } from "../../../api/events/events.ts";
import { deleteOldRecords } from "../../../jobs/delete_old_records.ts";
import { findCursorKey } from "../../../sql/events/event_feed.ts";
import { runJson } from "../../helpers/accounts/admin.ts";
import { createAgent, publishAgent, write } from "../../helpers/definitions/definitions.ts";
import { jobOf, postJob } from "../../helpers/exports/export_job.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import type { Person } from "../../helpers/postgres/factory.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";

interface Event {
  id: string;
  type: string;
  createdAt: string;
  organization: string | null;
  data: Record<string, unknown>;
}

interface Page {
  events: Event[];
  nextCursor: string;
}

async function read(api: TestApp, person: Person | null, query = "", slug?: string): Promise<Page> {
  const response = await api.request(`/api/v1/events${query}`, {
    ...(person ? { key: person.key } : {}),
    ...(slug === undefined ? {} : { headers: { "x-org-slug": slug } }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Page }).data;
}

const types = ({ events }: Page) => events.map(({ type }) => type);
const names = ({ events }: Page) => events.map(({ data }) => data["name"]);

test("publishing, deprecating and archiving a definition cause events, and failed transitions do not", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const { id } = await publishAgent(api, owner, { name: "reviewer", visibility: "public" });
  const path = "/agent/reviewer@1.0.0";
  expect((await write(api, `${path}/publish`, owner)).status).toBe(409);
  expect((await write(api, `${path}/archive`, owner)).status).toBe(409);
  expect((await write(api, `${path}/deprecate`, owner, { body: { reason: "Old" } })).status).toBe(200);
  expect((await write(api, `${path}/archive`, owner)).status).toBe(200);
  const page = await read(api, null);
  expect(types(page)).toEqual(["definition.published", "definition.deprecated", "definition.archived"]);
  expect(page.events[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: "definition.published",
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
    organization: owner.org.slug,
    data: { definitionId: id, type: "agent", name: "reviewer", version: "1.0.0" },
  });
});

test("finished and canceled exports cause events for members", async () => {
  await using api = await openTestApp();
  const [member, stranger] = [await api.make.person(), await api.make.person()];
  await using runner = await openTestRunner(api);
  const ready = await jobOf(await postJob(api, member));
  await runner.deps.owner.require();
  await runner.build(ready.id);
  const canceled = await jobOf(await postJob(api, member));
  const cancel = `/api/v1/export/jobs/${canceled.id}/cancel`;
  expect((await api.request(cancel, { method: "POST", key: member.key })).status).toBe(200);
  const { events } = await read(api, member);
  expect(events.map(({ type, organization, data }) => ({ type, organization, data }))).toEqual([
    {
      type: "export.ready",
      organization: member.org.slug,
      data: { jobId: ready.id, status: "ready" },
    },
    {
      type: "export.failed",
      organization: member.org.slug,
      data: { jobId: canceled.id, status: "failed" },
    },
  ]);
  expect((await read(api, stranger)).events).toEqual([]);
  expect((await read(api, null)).events).toEqual([]);
  const viewer = await api.make.person({ role: "viewer", org: member.org });
  const automation = await api.make.key({ userId: member.user.id, kind: "automation" });
  const reader = await api.make.key({ userId: member.user.id, scope: "read" });
  expect((await read(api, viewer)).events).toHaveLength(2);
  // Automation keys have no access to export jobs.
  expect((await read(api, { ...member, ...automation })).events).toEqual([]);
  expect((await read(api, { ...member, ...reader })).events).toHaveLength(2);
});

test("added and removed models and changed prices cause events for everyone", async () => {
  await using api = await openTestApp();
  const sync = (models: Parameters<typeof makeDocument>[0]["p"]) =>
    syncFrom(api.db.sql, documentSource(makeDocument({ p: models })));
  await sync({ a: {}, b: {} });
  await sync({ a: { cost: { input: 1, output: 3 } } });
  await sync({ a: { cost: { input: 1, output: 3 } }, b: {} });
  const { events } = await read(api, null);
  expect(events.map(({ type, data }) => [type, data["modelId"]])).toEqual([
    ["model.added", "a"],
    ["model.added", "b"],
    ["model.gone", "b"],
    ["model.price_changed", "a"],
    ["model.added", "b"],
  ]);
  expect(events[3]).toMatchObject({
    organization: null,
    data: { provider: "p", modelId: "a", field: "output", oldValue: 2, newValue: 3 },
  });
});

test("visibility and membership decide who sees a definition's events", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const viewer = await api.make.person({ org: owner.org, role: "viewer" });
  const stranger = await api.make.person();
  const caller = { key: owner.key, org: owner.org };
  for (const visibility of ["public", "unlisted", "private"]) {
    await publishAgent(api, caller, { name: `a-${visibility}`, visibility });
  }
  await createAgent(api, caller, { name: "a-draft", visibility: "public" });
  const bound = await api.make.key({ userId: owner.user.id, orgId: owner.personalOrg.id });
  const all = ["a-public", "a-unlisted", "a-private"];
  const seenBy = async () => ({
    owner: names(await read(api, owner)),
    viewer: names(await read(api, viewer)),
    bound: names(await read(api, { ...owner, key: bound.key })),
    stranger: names(await read(api, stranger)),
    anonymous: names(await read(api, null)),
  });
  const [open, none] = [["a-public"], []];
  expect(await seenBy()).toEqual({ owner: all, viewer: all, bound: open, stranger: open, anonymous: open });
  const target = ["--type", "agent", "--name", `@${owner.org.slug}/a-public`];
  await runJson(api.db.url, ["definition", "quarantine", ...target, "--reason", "Unsafe"]);
  expect(await seenBy()).toEqual({ owner: all, viewer: all, bound: none, stranger: none, anonymous: none });
  await runJson(api.db.url, ["definition", "release", ...target]);
  expect((await seenBy()).anonymous).toEqual(open);
});

test("X-Org-Slug limits events to one organization and is accepted only from its members", async () => {
  await using api = await openTestApp();
  const [owner, other] = [await api.make.person(), await api.make.person()];
  await publishAgent(api, { key: owner.key, org: owner.org }, { name: "own", visibility: "private" });
  await publishAgent(api, { key: other.key, org: other.org }, { name: "others", visibility: "public" });
  expect(names(await read(api, owner))).toEqual(["own", "others"]);
  expect(names(await read(api, owner, "", owner.org.slug))).toEqual(["own"]);
  const headers = { "x-org-slug": other.org.slug };
  expect((await api.request("/api/v1/events", { key: owner.key, headers })).status).toBe(403);
  expect((await api.request("/api/v1/events", { headers })).status).toBe(401);
});

test("the cursor selects the next page, and types filter the events", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  for (const name of ["a", "b", "c"]) await publishAgent(api, owner, { name, visibility: "public" });
  await write(api, "/agent/b@1.0.0/deprecate", owner, { body: { reason: "Old" } });
  const first = await read(api, null, "?limit=2");
  expect(names(first)).toEqual(["a", "b"]);
  const second = await read(api, null, `?limit=3&after=${first.nextCursor}`);
  expect(names(second)).toEqual(["c", "b"]);
  const third = await read(api, null, `?after=${second.nextCursor}`);
  expect(third.events).toEqual([]);
  // Equal cursors would reveal that no event has happened in other organizations either.
  expect(third.nextCursor).not.toBe(second.nextCursor);
  expect(names(await read(api, null, "?type=definition.deprecated"))).toEqual(["b"]);
  const both = "?type=definition.deprecated&type=definition.published&limit=1";
  expect(names(await read(api, null, both))).toEqual(["a"]);
  expect(names(await read(api, null, `${both}&after=${first.nextCursor}`))).toEqual(["c"]);
});

test("a cursor advances past events that the reader cannot see", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const { nextCursor } = await read(api, null);
  await publishAgent(api, owner, { name: "hidden", visibility: "private" });
  const page = await read(api, null, `?after=${nextCursor}`);
  expect(page.events).toEqual([]);
  await publishAgent(api, owner, { name: "shown", visibility: "public" });
  expect(names(await read(api, null, `?after=${page.nextCursor}`))).toEqual(["shown"]);
});

test("a reader already past a quarantined definition's events does not get these events after the release", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const { nextCursor: before } = await read(api, null);
  await publishAgent(api, owner, { name: "unsafe", visibility: "public" });
  const target = ["--type", "agent", "--name", `@${owner.org.slug}/unsafe`];
  await runJson(api.db.url, ["definition", "quarantine", ...target, "--reason", "Unsafe"]);
  await publishAgent(api, owner, { name: "safe", visibility: "public" });
  const passed = await read(api, null, `?after=${before}`);
  expect(names(passed)).toEqual(["safe"]);
  await runJson(api.db.url, ["definition", "release", ...target]);
  expect((await read(api, null, `?after=${passed.nextCursor}`)).events).toEqual([]);
  // A reader that has not read past these events gets them in their original order.
  expect(names(await read(api, null, `?after=${before}`))).toEqual(["unsafe", "safe"]);
});

test("a reader whose next events were deleted gets an error and can restart", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const publish = (name: string) => publishAgent(api, owner, { name, visibility: "public" });
  for (const name of ["a", "b", "c"]) await publish(name);
  const early = await read(api, null, "?limit=1");
  const current = await read(api, null);
  expect([names(early), names(current)]).toEqual([["a"], ["a", "b", "c"]]);
  const days = api.deps.config.eventRetentionDays;
  await api.db.sql`
    update events set created_at = created_at - make_interval(days => ${days + 1})
    where data ->> 'name' in ('a', 'b')`;
  await deleteOldRecords(api.deps, new AbortController().signal);

  const late = await api.request(`/api/v1/events?after=${early.nextCursor}`);
  expect([late.status, await late.json()]).toMatchObject([
    400,
    { error: { code: "VALIDATION_ERROR", details: { reason: "cursor_too_old" } } },
  ]);
  expect((await read(api, null, `?after=${current.nextCursor}`)).events).toEqual([]);
  const restarted = await read(api, null);
  expect(names(restarted)).toEqual(["c"]);
  await publish("d");
  for (const { nextCursor } of [restarted, current])
    expect(names(await read(api, null, `?after=${nextCursor}`))).toEqual(["d"]);
});

test("invalid parameters and unknown cursors return 400", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  for (const name of ["a", "b"]) await publishAgent(api, owner, { name, visibility: "public" });
  const { nextCursor } = await read(api, null, "?limit=1");
  const cursorKey = await findCursorKey(api.db.sql);
  await read(api, null);
  for (const query of [
    "limit=0",
    "limit=201",
    "after=x",
    "after=",
    "after=-1",
    "after=99",
    `after=${"A".repeat(22)}`,
    `after=${nextCursor.toLowerCase()}`,
    `after=${encodeCursor(cursorKey, 99)}`,
    "type=x",
    "since=1",
  ]) {
    const response = await api.request(`/api/v1/events?${query}`);
    expect([query, response.status]).toEqual([query, 400]);
  }
});

test("the rate limit for anonymous callers applies to reading events", async () => {
  await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 2 } });
  const statuses = [1, 2, 3].map(async () => (await api.request("/api/v1/events")).status);
  expect(await Promise.all(statuses)).toEqual([200, 200, 429]);
});
