/** Access to the pages and forms for publishers. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { agentYaml, createAgent, publishAgent } from "../../../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";
import { formTokenIn, openPage, sendForm } from "../../../../helpers/pages/forms.ts";
import type { OrgRow, Person } from "../../../../helpers/postgres/factory.ts";

let api: TestApp;
let publisher: Person & { token: string };
let viewer: Person & { token: string };
let outsider: Person & { token: string };
let org: OrgRow;

beforeAll(async () => {
  api = await openTestApp();
  const signIn = async (person: Person) => {
    const { token } = await api.make.session({ userId: person.user.id });
    return { ...person, token };
  };
  publisher = await signIn(await api.make.person({ role: "publisher" }));
  org = publisher.org;
  viewer = await signIn(await api.make.person({ role: "viewer", org }));
  outsider = await signIn(await api.make.person({ role: "publisher" }));
  await createAgent(api, publisher, { name: "hidden-draft" });
  await publishAgent(api, publisher, { name: "hidden" });
  await publishAgent(api, publisher, { name: "open", visibility: "public" });
});
afterAll(() => api[Symbol.asyncDispose]());

const ACTIONS = ["edit", "publish", "deprecate", "archive", "delete", "retranslate", "upgrade"];
const NAMES = ["hidden-draft", "hidden", "open"];

function pathOf(name: string, action: string): string {
  return `/definitions/agent/@${org.slug}/${name}@1.0.0/${action}`;
}

/** Returns the status and text of an error page, without the request id and the names of organizations. */
async function seen(response: Response): Promise<unknown[]> {
  const page = await response.text();
  return [response.status, page.replace(/Request ID: [\w-]+/, "").replaceAll(/@[\w.-]+/g, "")];
}

test("publishers can open every page for editing and publishing", async () => {
  for (const name of NAMES) {
    for (const action of ACTIONS) {
      const response = await openPage(api, pathOf(name, action), publisher.token);
      expect([name, action, response.status]).toEqual([name, action, 200]);
      expect(response.headers.get("cache-control")).toBe("private, no-store");
    }
  }
  const response = await openPage(api, "/definitions/new", publisher.token);
  expect(response.status).toBe(200);
});

test("viewers get the API's error on every page and form", async () => {
  for (const action of ACTIONS) {
    for (const response of [
      await openPage(api, pathOf("open", action), viewer.token),
      await sendForm(api, pathOf("open", action), { action: "save" }, viewer),
    ]) {
      expect([action, response.status]).toEqual([action, 403]);
      expect(await response.text()).toContain("requires the publisher role");
    }
  }
  const response = await openPage(api, "/definitions/new", viewer.token);
  expect(response.status).toBe(403);
});

test("outsiders get the same pages for existing and for missing definitions and organizations", async () => {
  const nowhere = "/definitions/agent/@nobody-here/absent@1.0.0/edit";
  const absent = await seen(await openPage(api, nowhere, outsider.token));
  const unsent = await seen(await sendForm(api, nowhere, { reason: "x" }, outsider));
  expect([absent[0], unsent[0]]).toEqual([404, 404]);
  for (const action of ACTIONS) {
    for (const name of [...NAMES, "absent"]) {
      expect([
        name,
        action,
        ...(await seen(await openPage(api, pathOf(name, action), outsider.token))),
      ]).toEqual([name, action, ...absent]);
      const sent = await sendForm(api, pathOf(name, action), { reason: "x" }, outsider);
      expect([name, action, ...(await seen(sent))]).toEqual([name, action, ...unsent]);
    }
  }
});

test("anonymous visitors are redirected to the sign-in page, with the page's URL in next", async () => {
  for (const path of [pathOf("hidden-draft", "edit"), pathOf("absent", "publish"), "/definitions/new"]) {
    const response = await openPage(api, path);
    expect([response.status, response.headers.get("location")]).toEqual([
      303,
      `/dashboard/sign-in?next=${encodeURIComponent(path)}`,
    ]);
  }
});

test("forms from other sites, without a token or with another session's token change nothing", async () => {
  const path = pathOf("hidden-draft", "publish");
  const page = await (await openPage(api, path, outsider.token)).text();
  expect(page).not.toContain("Publish");
  const other = formTokenIn(await (await openPage(api, "/", outsider.token)).text());
  const { token } = publisher;
  const responses = [
    await sendForm(
      api,
      path,
      {},
      { token, headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" } },
    ),
    await sendForm(api, path, {}, { token, formToken: "" }),
    await sendForm(api, path, {}, { token, formToken: other }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([403, 403, 403]);
  const [row] = await api.db.sql`select status from definitions where name = 'hidden-draft'`;
  expect(row).toEqual({ status: "draft" });
});

test("malformed URLs of definitions return 404", async () => {
  for (const path of [
    "/definitions/robot/@x/y/edit",
    "/definitions/agent/x/y/edit",
    "/definitions/agent/@x/y@one/edit",
  ]) {
    expect((await openPage(api, path, publisher.token)).status).toBe(404);
  }
});

test("hostile input is escaped when the form for a new definition shows it again", async () => {
  const hostile = `</textarea><script>alert(1)</script>"'>`;
  const yaml = agentYaml("hostile", "1.0.0", { displayName: JSON.stringify(hostile) });
  const broken = `${yaml}\n${hostile}: [`;
  const path = "/definitions/new";
  for (const fields of [
    { type: "agent", yaml: broken, action: "check" },
    { type: "agent", yaml: broken, action: "save" },
    { type: hostile, yaml: hostile, action: "check", visibility: hostile, changeSummary: hostile },
  ]) {
    const page = await (await sendForm(api, path, fields, publisher)).text();
    expect(page).not.toContain("<script>alert");
    expect(page.match(/<\/textarea>/g)).toHaveLength(1);
  }
});

test("publishers can open the fork page of every definition that they can see, and viewers get 403", async () => {
  const visitors = [publisher, viewer, outsider];
  const statusesOf = (name: string) =>
    Promise.all(visitors.map(async ({ token }) => (await openPage(api, pathOf(name, "fork"), token)).status));
  expect(await statusesOf("open")).toEqual([200, 403, 200]);
  expect(await statusesOf("hidden")).toEqual([200, 403, 404]);
  expect(await statusesOf("absent")).toEqual([404, 404, 404]);
});
