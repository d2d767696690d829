/** The organization chosen by the cookie, and forms sent after another tab has chosen a different organization. */
import { expect, test } from "bun:test";
import { agentYaml, publishAgent } from "../../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { formTokenIn, openPage, sendForm } from "../../../helpers/pages/forms.ts";

/** Creates a publisher of two organizations. By default, pages show `first`. */
async function openTwo() {
  const api = await openTestApp();
  const { user, org: first, key } = await api.make.person({ role: "publisher", tier: "pro" });
  const second = await api.make.org({ name: "Second" });
  await api.make.member({ orgId: second.id, userId: user.id, role: "publisher" });
  const { org: foreign } = await api.make.person({ role: "owner" });
  const { token } = await api.make.session({ userId: user.id });
  const open = async (path: string, chosen?: string) => {
    const response = await openPage(api, path, token, chosen);
    return { ...describe(response), text: await response.text() };
  };
  return { api, user, key, token, first, second, foreign, open };
}

function describe(response: Response) {
  const cookie = response.headers.getSetCookie().find((one) => one.startsWith("ulr_org=")) ?? null;
  return { status: response.status, location: response.headers.get("location"), cookie };
}

function shownOrg(page: string): string | undefined {
  return /<option value="([^"]+)" selected>/.exec(page)?.[1];
}

test("an org parameter chooses the organization, and the page redirects to its URL without the parameter", async () => {
  const { api, first, second, open } = await openTwo();
  await using _ = api;
  const cookie = `ulr_org=${second.slug}; HttpOnly; SameSite=Lax; Path=/; Max-Age=31536000`;
  for (const [path, location] of [
    [`/dashboard/exports?org=${second.slug}`, "/dashboard/exports"],
    [`/models?search=a&org=${second.slug}&org=${first.slug}&tier=fast`, "/models?search=a&tier=fast"],
    [`/orgs/${first.slug}/members?org=${second.slug}`, `/orgs/${second.slug}/members`],
  ] as const) {
    expect(await open(path)).toMatchObject({ status: 303, location, cookie });
  }
  const { status, text } = await open("/dashboard/exports", second.slug);
  expect([status, shownOrg(text)]).toEqual([200, second.slug]);
  expect(text).not.toContain("?org=");
});

test("choosing an organization that the caller is not a member of has no effect", async () => {
  const { api, first, foreign, open } = await openTwo();
  await using _ = api;
  for (const chosen of [foreign.slug, "nothing", "", `${first.slug}x`, "%22%3E", "__proto__"]) {
    const { text } = await open("/", chosen);
    expect([chosen, shownOrg(text)]).toEqual([chosen, first.slug]);
  }
  const absent = await open("/dashboard/exports?org=nothing", first.slug);
  const hidden = await open(`/dashboard/exports?org=${foreign.slug}`, first.slug);
  expect(hidden).toEqual(absent);
  expect([hidden.status, hidden.text.includes(foreign.name)]).toEqual([200, false]);
  expect(hidden.text).toContain("The organization in this address does not exist, or you are not a member.");
  expect(await open(`/orgs/${foreign.slug}`)).toMatchObject({ status: 200, cookie: null });
});

test("opening a page for one of the caller's organizations chooses that organization once", async () => {
  const { api, first, second, open } = await openTwo();
  await using _ = api;
  const opened = await open(`/orgs/${second.slug}/members`, first.slug);
  expect([shownOrg(opened.text), opened.cookie?.split(";")[0]]).toEqual([
    second.slug,
    `ulr_org=${second.slug}`,
  ]);
  expect((await open(`/orgs/${second.slug}/members`, second.slug)).cookie).toBeNull();
});

/** Returns the value of the `org` field in the form whose HTML contains `action`. */
function orgField(page: string, action: string): string | undefined {
  const form = page
    .slice(page.indexOf(`<form`, page.indexOf("<main")))
    .split("</form>")
    .find((one) => one.includes(action));
  return /name="org" value="([^"]*)"/.exec(form ?? "")?.[1];
}

/** Sends a form as a browser does if the page was opened before the cookie changed. */
function send(
  api: TestApp,
  path: string,
  given: { token: string; chosen: string; fields: Record<string, string> },
) {
  const cookie = `ulr_session=${given.token}; ulr_org=${given.chosen}`;
  return sendForm(api, path, given.fields, { token: given.token, headers: { cookie } });
}

test("a form exports the organization that the page showed, whatever another tab has chosen since", async () => {
  const { api, token, first, second, open } = await openTwo();
  await using _ = api;
  const { text } = await open("/dashboard/exports", first.slug);
  const org = orgField(text, 'id="start-form"') ?? "";
  expect(org).toBe(first.slug);
  const sent = await send(api, "/dashboard/exports", {
    token,
    chosen: second.slug,
    fields: { format: "csv", org },
  });
  const { location } = describe(sent);
  expect(location).toStartWith("/dashboard/exports?job=");
  const jobs = await api.db.sql<{ orgId: string }[]>`select org_id from export_jobs`;
  expect(jobs.map(({ orgId }) => orgId)).toEqual([first.id]);
  // The page shows the job's organization, and so do its forms.
  const row = await open(location ?? "", second.slug);
  expect([shownOrg(row.text), orgField(row.text, 'id="start-form"')]).toEqual([first.slug, first.slug]);
  const canceled = await send(api, `/dashboard/exports/jobs/${location?.split(/[=&]/)[1]}/cancel`, {
    ...{ token, chosen: second.slug, fields: {} },
  });
  expect(canceled.headers.get("location")).toContain("as=canceled");
});

test("a form without an organization or with another user's organization starts nothing", async () => {
  const { api, token, second, foreign, open } = await openTwo();
  await using _ = api;
  for (const org of ["", foreign.slug, "nothing"]) {
    const fields = { format: "csv", org };
    const sent = await send(api, "/dashboard/exports", { token, chosen: second.slug, fields });
    expect([org, sent.status]).toEqual([org, 404]);
    const yaml = { type: "agent", yaml: agentYaml("reviewer"), action: "save", org };
    const saved = await send(api, "/definitions/new", { token, chosen: second.slug, fields: yaml });
    expect([org, saved.status]).toEqual([org, 403]);
  }
  expect((await api.db.sql`select 1 from export_jobs`).length).toBe(0);
  expect((await api.db.sql`select 1 from definitions`).length).toBe(0);
  const formToken = formTokenIn((await open("/", second.slug)).text);
  const nameless = await sendForm(api, "/dashboard/exports", { format: "csv" }, { token, formToken });
  expect(nameless.status).toBe(404);
  // A form from an older release has the organization in its address.
  const old = `/dashboard/exports?org=${second.slug}`;
  const { status } = await sendForm(api, old, { format: "csv" }, { token, formToken });
  expect(status).toBe(303);
  expect((await open("/dashboard/exports", second.slug)).text).toContain("Queued");
});

test("new definitions and forks are created in the organization that the form's page showed", async () => {
  const { api, key, token, first, second, open } = await openTwo();
  await using _ = api;
  const person = { key, org: second };
  await publishAgent(api, person, { name: "source", visibility: "public" });
  const blank = await open("/definitions/new", first.slug);
  const fork = await open(`/definitions/agent/@${second.slug}/source/fork`, first.slug);
  expect(fork.text).toContain(`Fork into ${first.name}`);
  const org = orgField(blank.text, "yaml") ?? "";
  expect([org, orgField(fork.text, "displayName")]).toEqual([first.slug, first.slug]);
  const fields = { type: "agent", yaml: agentYaml("reviewer"), visibility: "private", action: "save", org };
  const saved = await send(api, "/definitions/new", { token, chosen: second.slug, fields });
  expect(saved.headers.get("location")).toBe(`/definitions/agent/@${first.slug}/reviewer@1.0.0/edit`);
  const forked = await send(api, `/definitions/agent/@${second.slug}/source/fork`, {
    ...{ token, chosen: second.slug, fields: { name: "copy", visibility: "private", org } },
  });
  expect(forked.headers.get("location")).toBe(`/definitions/agent/@${first.slug}/copy@1.0.0/edit`);
});

test("an open page keeps its rows and links after another organization is chosen", async () => {
  const { api, user, token, first, second, open } = await openTwo();
  await using _ = api;
  await sendForm(api, "/dashboard/exports", { format: "csv" }, { token });
  const project = await api.make.project({ orgId: first.id, ownerId: user.id, name: "Shop", slug: "shop" });
  const rows = await open(`/dashboard/exports/jobs?organization=${first.slug}`, second.slug);
  expect([rows.status, rows.cookie, rows.text.match(/<li class="job/g)?.length]).toEqual([200, null, 1]);
  expect(rows.text).toContain(`data-org="${first.slug}"`);
  const list = rows.text.slice(rows.text.indexOf("data-org"));
  expect([...list.matchAll(/name="org" value="([^"]+)"/g)].map(([, org]) => org)).toEqual([first.slug]);
  for (const name of [project.id, "shop"]) {
    const shown = await open(`/dashboard/exports/projects/${name}`, second.slug);
    expect([shown.status, shownOrg(shown.text)]).toEqual([200, first.slug]);
    expect(shown.text).toContain('<form class="org" method="get" action="/dashboard/exports">');
  }
});
