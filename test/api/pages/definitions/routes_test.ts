/** The pages for reading definitions, without JavaScript. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { agentNeeding, agentYaml, publishAgent, write } from "../../../helpers/definitions/definitions.ts";
import { makePlatformAdmin, record } from "../../../helpers/definitions/executions.ts";
import { makeFork } from "../../../helpers/definitions/forks.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { openPage } from "../../../helpers/pages/forms.ts";
import type { Person } from "../../../helpers/postgres/factory.ts";

let api: TestApp;
let publisher: Person & { key: string; token: string };
beforeAll(async () => {
  api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 10_000 } });
  publisher = await makePublisher();
});
afterAll(() => api[Symbol.asyncDispose]());

async function makePublisher(tier: "free" | "pro" = "pro") {
  const person = await api.make.person({ role: "publisher", tier });
  const [{ key }, { token }] = await Promise.all([
    api.make.key({ userId: person.user.id, orgId: person.org.id }),
    api.make.session({ userId: person.user.id }),
  ]);
  return { ...person, key, token };
}

async function textOf(path: string, token?: string): Promise<string> {
  const response = await openPage(api, path, token);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`Cannot open ${path}: ${response.status} ${text}`);
  return text;
}

function pathOf(name: string, type = "agent"): string {
  return `/definitions/${type}/@${publisher.org.slug}/${name}`;
}

const TABS = ["", "/yaml", "/versions", "/compare", "/dependencies", "/dependents", "/forks", "/usage"];

test("a definition is shown with its text, the command to install it and links to all its tabs", async () => {
  await publishAgent(api, publisher, { name: "shown", visibility: "public" });
  const page = await textOf(pathOf("shown"));
  expect(page).toContain("<h1>Reviewer</h1>");
  expect(page).toContain("You review one change at a time and report what you find.");
  expect(page).toContain(
    `curl --create-dirs -fo .claude/agents/shown.md http://localhost:3000/api/v1/definitions/agent/@${publisher.org.slug}/shown.md`,
  );
  for (const tab of TABS) expect(page).toContain(`href="${pathOf("shown")}${tab}"`);
  expect(page).toContain("No findings");
  expect(page.match(/<h1/g)).toHaveLength(1);
  for (const tab of TABS) expect((await openPage(api, `${pathOf("shown")}${tab}`)).status).toBe(200);
});

test("a public definition's page is cacheable for anonymous visitors, but not for signed-in users", async () => {
  await publishAgent(api, publisher, { name: "cached", visibility: "public" });
  for (const tab of TABS) {
    const path = `${pathOf("cached")}${tab}`;
    const { headers } = await openPage(api, path);
    expect(headers.get("cache-control")).toBe("public, max-age=0, must-revalidate");
    const again = await api.request(path, {
      headers: { accept: "text/html", "if-none-match": headers.get("etag") ?? "" },
    });
    expect([tab, again.status]).toEqual([tab, 304]);
    const own = await openPage(api, path, publisher.token);
    expect([own.headers.get("cache-control"), own.headers.get("etag")]).toEqual(["private, no-store", null]);
  }
});

test("a member without the required second factor can read an organization's public definitions", async () => {
  await publishAgent(api, publisher, { name: "open", visibility: "public" });
  const member = await makePublisher();
  await publishAgent(api, member, { name: "own", visibility: "private" });
  await api.db.sql`update organizations set require_second_factor = true where id = ${member.org.id}`;
  for (const tab of TABS) {
    const { status } = await openPage(api, `${pathOf("open")}${tab}`, member.token);
    expect([tab, status]).toEqual([tab, 200]);
  }
  expect(await textOf(pathOf("open"), member.token)).not.toContain("Fork to");
  expect(await textOf(pathOf("open"), publisher.token)).toContain("Fork to");
  const own = await openPage(api, `/definitions/agent/@${member.org.slug}/own`, member.token);
  expect(own.status).toBe(404);
});

test("the links of a page do not repeat an org parameter that is given 1,500 times", async () => {
  const orgs = Array.from({ length: 1500 }, (_, index) => `org=a${index}`).join("&");
  const response = await openPage(api, `/definitions?${orgs}`);
  expect((await response.text()).length).toBeLessThan(60_000);
});

test("a private definition looks like a missing page to other users, on every tab", async () => {
  await publishAgent(api, publisher, { name: "secluded", visibility: "private" });
  const stranger = await makePublisher();
  for (const token of [undefined, stranger.token]) {
    for (const tab of TABS) {
      const [hidden, unknown] = await Promise.all(
        ["secluded", "missing"].map(async (name) => {
          const response = await openPage(api, `${pathOf(name)}${tab}`, token);
          const id = response.headers.get("x-request-id") ?? "";
          return [response.status, (await response.text()).replaceAll(id, "<id>").replaceAll(name, "<name>")];
        }),
      );
      expect(hidden).toEqual([404, expect.stringContaining("Page not found")]);
      expect(hidden).toEqual(unknown);
    }
  }
  for (const tab of TABS)
    expect(await textOf(pathOf("secluded") + tab, publisher.token)).toContain("Reviewer");
  expect(await textOf(pathOf("secluded"), publisher.token)).toContain(
    "-H &quot;Authorization: Bearer $API_KEY&quot;",
  );
});

test.each([
  "/definitions/robot/@demo/a",
  "/definitions/agent/demo/a",
  "/definitions/agent/@demo/A%20b",
  "/definitions/agent/@demo/a.md",
  "/definitions/agent/@demo/a@1",
  "/definitions/agent/@demo/a@^1.0.0",
  "/definitions/agent/@/a",
  "/definitions/agent/@demo/a/nothing",
  "/definitions/agent/a.md",
  "/definitions/nothing",
])("%s returns the 404 page", async (path) => {
  const response = await openPage(api, path);
  expect([response.status, response.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
});

test("the id of a definition and its name without the organization redirect to its page", async () => {
  const { id } = await publishAgent(api, publisher, { name: "moved", visibility: "public" });
  for (const [path, location] of [
    [`/definitions/agent/${id}`, `${pathOf("moved")}@1.0.0`],
    ["/definitions/agent/moved", pathOf("moved")],
    ["/definitions/agent/moved@1.0.0", `${pathOf("moved")}@1.0.0`],
  ] as const) {
    const { status, headers } = await openPage(api, path);
    expect([status, headers.get("location"), headers.get("cache-control")]).toEqual([
      303,
      location,
      "no-store",
    ]);
  }
});

test("a deprecated definition shows the reason, the date and the successor", async () => {
  await publishAgent(api, publisher, { name: "old", visibility: "public" });
  await write(api, "/agent/old@1.0.0/deprecate", publisher, {
    body: { reason: "Too <slow>", successor: "new" },
  });
  for (const [path, beginning] of [
    [`${pathOf("old")}@1.0.0`, "Deprecated since"],
    [pathOf("old"), "All versions are deprecated, this one since"],
  ] as const) {
    const page = await textOf(path);
    expect(page).toContain(beginning);
    expect(page).toContain("Too &lt;slow&gt;");
    expect(page).toContain(`<a href="${pathOf("new")}">new</a>`);
  }
});

test("a definition whose YAML cannot be rendered says so and links to the YAML", async () => {
  const yaml = 'workflow:\n  interface:\n    name: bare\n    version: "1.0.0"\n';
  await write(api, "/workflow/bare", publisher, { body: { yaml, visibility: "public" } });
  const page = await textOf(`${pathOf("bare", "workflow")}@1.0.0`, publisher.token);
  expect(page).toContain(
    "cannot be rendered as Markdown: missing description at <code>workflow.interface.description</code>",
  );
  expect(page).toContain(`href="${pathOf("bare", "workflow")}@1.0.0/yaml"`);
});

test("a page offers forking and editing only to callers with permission", async () => {
  await publishAgent(api, publisher, { name: "managed", visibility: "public" });
  const stranger = await makePublisher();
  const viewer = await api.make.person({ role: "viewer", org: publisher.org });
  const { token } = await api.make.session({ userId: viewer.user.id });
  const linksFor = async (as?: string) => {
    const page = await textOf(pathOf("managed"), as);
    return [page.includes('/managed@1.0.0/fork"'), page.includes('/edit">New version or deprecate</a>')];
  };
  expect(await linksFor()).toEqual([false, false]);
  expect(await linksFor(publisher.token)).toEqual([true, true]);
  expect(await linksFor(stranger.token)).toEqual([true, false]);
  expect(await linksFor(token)).toEqual([false, false]);
});

test("the YAML is highlighted and otherwise unchanged", async () => {
  await publishAgent(api, publisher, { name: "colored", visibility: "public" });
  const page = await textOf(`${pathOf("colored")}/yaml`);
  expect(page).toContain(`<span class="yaml-key">displayName</span>: Reviewer`);
  expect(page).toContain("/colored.yaml");
});

test("everyone can compare sections of versions, but comparing fields and getting the patch need a paid plan", async () => {
  await publishAgent(api, publisher, { name: "changed", visibility: "public" });
  const yaml = agentYaml("changed", "1.1.0", { description: "Finds <b>other</b> things." });
  await publishAgent(api, publisher, { name: "changed", version: "1.1.0", yaml, visibility: "public" });
  const versions = await textOf(`${pathOf("changed")}/versions`);
  expect(versions).toContain(`<a href="${pathOf("changed")}@1.1.0">1.1.0</a>`);
  expect(versions).toContain("2 versions");

  const free = await textOf(`${pathOf("changed")}/compare`);
  expect(free).toContain('<option value="1.0.0" selected>');
  expect(free).toContain("<code>agent.interface</code>");
  expect(free).toContain("need a paid plan");
  expect(free).not.toContain("diff-");
  const other = await makePublisher("free");
  expect(await textOf(`${pathOf("changed")}/compare`, other.token)).toContain("need a paid plan");

  const paid = await textOf(`${pathOf("changed")}/compare?from=1.1.0&to=1.0.0`, publisher.token);
  expect(paid).toContain(
    `<span class="diff-removed">-    description: Finds &lt;b&gt;other&lt;/b&gt; things.`,
  );
  expect(paid).toContain('<span class="badge">metadata</span>');
  const patchPath = `${pathOf("changed")}/compare/patch?from=1.0.0&to=1.1.0`;
  const patch = await openPage(api, patchPath, publisher.token);
  expect(patch.headers.get("content-disposition")).toBe('attachment; filename="changed-1.0.0-1.1.0.patch"');
  expect(await patch.text()).toStartWith("diff --git a/changed.agent.yaml b/changed.agent.yaml\n");
  expect((await openPage(api, patchPath)).status).toBe(402);
});

test.each(["from=1&to=1.0.0", "from=9.0.0&to=1.0.0", "from=%00&to=1.0.0"])(
  "comparing versions that do not exist returns an error: %s",
  async (query) => {
    await publishAgent(api, publisher, { name: `one-${Bun.hash(query)}`, visibility: "public" });
    const { status } = await openPage(api, `${pathOf(`one-${Bun.hash(query)}`)}/compare?${query}`);
    expect([400, 404]).toContain(status);
  },
);

test("dependencies are shown as a graph and a list, and dependents are on a page of their own", async () => {
  await publishAgent(api, publisher, { name: "needed", visibility: "public" });
  const yaml = agentNeeding("needing", ["needed@^1.0.0", "nowhere@^1.0.0"]);
  await publishAgent(api, publisher, { name: "needing", yaml, visibility: "public" });
  const page = await textOf(`${pathOf("needing")}/dependencies`);
  expect(page.split(`href="${pathOf("needed")}@1.0.0"`)).toHaveLength(3);
  expect(page).toContain('<svg class="graph"');
  expect(page).toContain("<code>nowhere@^1.0.0</code>");
  const dependents = await textOf(`${pathOf("needed")}/dependents`);
  expect(dependents).toContain(`href="${pathOf("needing")}@1.0.0"`);
  expect(await textOf(`${pathOf("needed")}/dependencies`)).toContain("needs no other definition");
});

test("a definition's page says who published the version and when", async () => {
  await publishAgent(api, publisher, { name: "authored", visibility: "public" });
  await api.db.owner`update users set name = 'Olivia <b>' where id = ${publisher.user.id}`;
  for (const token of [undefined, publisher.token]) {
    expect(await textOf(pathOf("authored"), token)).toMatch(
      /1\.0\.0 published <time datetime="[^"]+">\d{4}-\d\d-\d\d<\/time> by Olivia &lt;b&gt;/,
    );
  }
  await write(api, "/agent/authored", publisher, { body: { yaml: agentYaml("authored", "1.1.0") } });
  expect(await textOf(`${pathOf("authored")}@1.1.0`, publisher.token)).toContain("1.1.0 created <time");
});

test("a fork and its source link to each other, and hidden forks are only counted", async () => {
  const { id } = await publishAgent(api, publisher, { name: "source", visibility: "public" });
  const stranger = await makePublisher();
  const { definition } = await makeFork(api, stranger, `/agent/@${publisher.org.slug}/source`, {
    name: "forked",
    visibility: "public",
  });
  const own = await textOf(`/definitions/agent/@${stranger.org.slug}/forked@1.0.0/forks`, stranger.token);
  expect(id).not.toBe(definition.id);
  expect(own).toContain(`<a href="${pathOf("source")}@1.0.0">@${publisher.org.slug}/source@1.0.0</a>`);
  const source = await textOf(`${pathOf("source")}/forks`, stranger.token);
  expect(source).toContain("1 fork");
  expect(source).toContain(`href="/definitions/agent/@${stranger.org.slug}/forked@1.0.0"`);
  expect(source).toContain(`>@${stranger.org.slug}/forked@1.0.0</td>`);
  // The fork is a draft, so anonymous visitors do not see it.
  const anonymous = await textOf(`${pathOf("source")}/forks`);
  expect(anonymous).toContain("1 is not shown");
  expect(anonymous).not.toContain(definition.id);
});

test("the usage page shows the number of executions in the chosen period, by source", async () => {
  await publishAgent(api, publisher, { name: "used", visibility: "public" });
  const unused = await textOf(`${pathOf("used")}/usage?window=7d`);
  expect(unused.match(/No executions in the last 7 days\./g)).toHaveLength(1);
  expect(unused).not.toContain("<svg");
  const admin = await makePlatformAdmin(api);
  const path = `/agent/@${publisher.org.slug}/used`;
  for (const source of ["cli", "cli", "<b>sdk</b>"]) await record(api, admin, path, { source });
  for (const window of ["", "?window=7d", "?window=24h", "?window=nonsense"]) {
    const page = await textOf(`${pathOf("used")}/usage${window}`);
    expect(page).toContain("3 executions");
    expect(page).toContain(`<th scope="row">cli</th><td class="number">2</td>`);
    expect(page).toContain("&lt;b&gt;sdk&lt;/b&gt;");
  }
});

test("the list has the API's filters as links, and each link keeps the remaining filters", async () => {
  const yaml = agentYaml("listed", "1.0.0", { domain: "security", tags: '["rare tag"]' });
  await publishAgent(api, publisher, { name: "listed", yaml, visibility: "public" });
  const page = await textOf("/definitions?tag=rare+tag&type=agent");
  expect(page).toContain("1 definition<");
  expect(page).toContain(`href="${pathOf("listed")}"`);
  expect(page).toContain("/definitions?tag=rare+tag&amp;type=command");
  expect(page).toContain(`href="/definitions?tag=rare+tag" aria-current="true"`);
  expect(await textOf("/definitions?tag=rare+tag&type=command")).toContain("Nothing matches");
  expect(await textOf("/definitions?search=listed&domain=&tag=")).toContain(`value="listed"`);
  expect(await textOf(`/definitions?organization=${publisher.org.slug}&search=listed`)).toContain(
    "1 definition<",
  );
});

test("only members see drafts and the filters for members in the list", async () => {
  await write(api, "/agent/drafted", publisher, { body: { yaml: agentYaml("drafted") } });
  const anonymous = await textOf("/definitions?search=drafted");
  expect(anonymous).toContain("Nothing matches");
  expect(anonymous).not.toContain("<summary>Status</summary>");
  const own = await textOf("/definitions?search=drafted", publisher.token);
  expect(own).toContain(`href="${pathOf("drafted")}@1.0.0"`);
  expect(own).toContain("<summary>Status</summary>");
  expect(own).toContain(publisher.org.name);
});

test("a member's search finds the published version together with its draft", async () => {
  await publishAgent(api, publisher, { name: "grown", visibility: "public" });
  const yaml = agentYaml("grown", "1.1.0", { displayName: "Title of the draft" });
  await write(api, "/agent/grown", publisher, { body: { yaml } });
  const link = `<a href="${pathOf("grown")}@1.1.0">draft 1.1.0</a>`;
  const own = await textOf("/definitions?search=grown", publisher.token);
  expect(own).toContain(`<a href="${pathOf("grown")}">`);
  expect(own).toContain(link);
  expect(own).not.toContain("Title of the draft");
  expect(own).toContain(`<a href="/definitions?search=grown&amp;status=draft">Search drafts</a>`);
  expect(await textOf("/definitions?search=grown&status=draft", publisher.token)).toContain(
    `<a href="${pathOf("grown")}@1.1.0">Title of the draft</a>`,
  );
  const anonymous = await textOf("/definitions?search=grown");
  expect(anonymous).toContain(`<a href="${pathOf("grown")}">`);
  expect(anonymous).not.toContain("1.1.0");
  expect(anonymous).not.toContain("Search drafts");
});

test("the list is divided into pages", async () => {
  const stranger = await makePublisher();
  for (const name of ["page-a", "page-b", "page-c"])
    await publishAgent(api, stranger, { name, visibility: "public" });
  const of = `organization=${stranger.org.slug}`;
  const first = await textOf(`/definitions?${of}&limit=2`);
  expect(first).toContain(`rel="next" href="/definitions?${of}&amp;limit=2&amp;offset=2"`);
  expect(first).toContain("1–2 of 3");
  const second = await textOf(`/definitions?${of}&limit=2&offset=2`);
  expect(second).toContain(`rel="prev" href="/definitions?${of}&amp;limit=2"`);
  expect(second).not.toContain('rel="next"');
});

test("unknown parameters are ignored", async () => {
  const page = await textOf("/definitions?utm_source=mail&fbclid=1&type=agent");
  expect(page).toContain('<a href="/definitions?type=command">');
  expect(page.slice(page.indexOf("<main"))).not.toMatch(/utm_source|fbclid/);
});

test.each(["limit=0", "type=robot", "offset=-1", `search=${"x".repeat(501)}`])(
  "a query that the API refuses is shown with the error: %s",
  async (query) => {
    const response = await openPage(api, `/definitions?${query}`);
    const page = await response.text();
    expect(response.status).toBe(400);
    expect(page).toContain('role="alert"');
    expect(page).toContain('<a href="/definitions">Show all definitions</a>');
  },
);

test("a refused filter shows its message and its input in the form, which keeps the remaining filters", async () => {
  const long = "x".repeat(501);
  const response = await openPage(api, `/definitions?type=agent&tag=${long}&sortBy=luck&domain=moon&limit=0`);
  const page = await response.text();
  expect(response.status).toBe(400);
  expect(page).toMatch(new RegExp(`<input id="field-tag" [^>]*aria-invalid="true" [^>]*value="${long}"`));
  expect(page).toContain('<p class="field-error" id="field-tag-error">Must have at most 500 characters</p>');
  expect(page).toContain('<option value="luck" selected>luck</option>');
  expect(page).toContain('id="field-sortBy-error">Must be one of ');
  expect(page).toContain('id="field-domain-error">Must be one of ');
  expect(page).toContain('<input type="hidden" form="filter-form" name="type" value="agent">');
  expect(page).toContain('<a href="/definitions?type=command">');
  // Checks only <main>, because the page's sign-in link contains the address with the refused values.
  const main = page.slice(page.indexOf("<main"));
  expect(main).not.toMatch(/href="[^"]*(luck|moon|limit=0)|name="limit"/);
  expect(main).toContain('<a href="#field-sortBy">sort by</a>');
  expect(main).not.toContain('href="#field-domain"');
});

test("lists are sorted by newest first, and searches by best match", async () => {
  const ordersOf = async (query: string) => {
    const [, options = ""] =
      /<select id="field-sortBy"[^>]*>(.*?)<\/select>/s.exec(await textOf(`/definitions${query}`)) ?? [];
    return [...options.matchAll(/<option value="([^"]*)"( selected)?>([^<]*)/g)].map(
      ([, value, selected = "", label]) => `${value}${selected}: ${label}`,
    );
  };
  const others = ["executionCount: Most executions", "updatedAt: Last updated"];
  expect(await ordersOf("")).toEqual([" selected: Newest", ...others]);
  expect(await ordersOf("?search=review")).toEqual([" selected: Best match", ...others, "createdAt: Newest"]);
});
