import { expect, test } from "bun:test";
import { openTestApp } from "../../helpers/http/app.ts";
import { probe } from "../../helpers/http/probe_routes.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openPage } from "../../helpers/pages/forms.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

test("a browser gets an error page for an unknown URL, with links and the request ID", async () => {
  await using api = await openTestApp();
  for (const path of [
    "/nowhere",
    "/dashboard/nothing",
    "/dashboard/assets/none.js",
    "/swagger/none",
    "/api",
  ]) {
    const response = await api.request(path, { headers: { accept: BROWSER } });
    const { status, headers } = response;
    expect([path, status, headers.get("content-type")]).toEqual([path, 404, "text/html; charset=utf-8"]);
    expect(headers.get("content-security-policy")).toStartWith("default-src 'none'; script-src 'self'");
    expect([headers.get("cache-control"), headers.get("vary")]).toEqual(["no-store", "Cookie, Accept"]);
    const page = await response.text();
    for (const text of ["<h1>Page not found</h1>", 'href="/dashboard/exports"', 'href="/swagger"']) {
      expect(page).toContain(text);
    }
    expect(page).toContain(`Request ID: ${headers.get("x-request-id")}`);
    expect(page).not.toMatch(/\{\{|<script|nowhere|nothing/);
  }
});

test("an error page shows who is signed in and explains the error", async () => {
  await using api = await openTestApp();
  const { user, org } = await api.make.person({ role: "viewer" });
  const { token } = await api.make.session({ userId: user.id });
  const paths: readonly [string, number][] = [
    ["/nowhere", 404],
    ["/models/nobody/nothing", 404],
    ["/definitions/new", 403],
    [`/orgs/${org.slug}/audit`, 403],
  ];
  for (const [path, expected] of paths) {
    const response = await openPage(api, path, token);
    const page = await response.text();
    expect([path, response.status]).toEqual([path, expected]);
    expect([path, page.includes("Sign out")]).toEqual([path, true]);
    expect(page).not.toContain("X-Org-Slug");
    expect((await (await openPage(api, path)).text()).includes("Sign out")).toBe(false);
  }
  const refused = await (await openPage(api, "/definitions/new", token)).text();
  expect(refused).toContain("You can choose another organization at the top of the page.");
  // An error page also deletes the cookie of an ended session.
  const ended = await openPage(api, "/nowhere", `${token}x`);
  expect([ended.status, ended.headers.getSetCookie().length]).toEqual([404, 1]);
});

test("the page for a missing model suggests similar models, and for a missing definition a search", async () => {
  await using api = await openTestApp();
  await syncFrom(api.db.sql, documentSource(makeDocument({ acme: { "fast-1": { name: "Fast" } } })));
  await api.deps.catalog.refresh();
  const cases = [
    ["/models/acme/fast1", 'Did you mean <a href="/models/acme/fast-1">acme/fast-1</a>?'],
    ["/models/acmee/fast-1", 'Did you mean <a href="/models/acme/fast-1">acme/fast-1</a>?'],
    ...[
      "/definitions/agent/no-body",
      "/definitions/agent/@none/no-body",
      "/definitions/agent/@none/no-body/forks",
    ].map((path) => [path, '<a href="/definitions?search=no-body">Search definitions for “no-body”</a>']),
  ] as const;
  for (const [path, link] of cases) {
    const response = await openPage(api, path);
    expect([path, response.status]).toEqual([path, 404]);
    expect((await response.text()).replaceAll("&amp;", "&")).toContain(link);
  }
});

test("programs get errors as JSON, and so do browsers at URLs meant for programs", async () => {
  await using api = await openTestApp();
  const cases = [
    ["/nowhere", "*/*"],
    ["/nowhere", "application/json"],
    ["/api/v1/nowhere", BROWSER],
    ["/health/nowhere", BROWSER],
    ["/.well-known/nowhere", BROWSER],
  ] as const;
  for (const [path, accept] of cases) {
    const response = await api.request(path, { headers: { accept } });
    expect([path, accept, response.status]).toEqual([path, accept, 404]);
    expect(await response.json()).toMatchObject({
      error: { code: "NOT_FOUND", details: { reason: "route" } },
    });
  }
});

test("a browser gets an error page for an internal error, without the cause", async () => {
  const routes = [
    probe("GET", "/broken", () => {
      throw new Error("the secret cause");
    }),
  ];
  await using api = await openTestApp({ routes });
  const response = await api.app.handle(
    new Request("http://localhost/broken", { headers: { accept: BROWSER } }),
    "192.0.2.1",
  );
  const page = await response.text();
  expect([response.status, page.includes("<h1>Something went wrong</h1>")]).toEqual([500, true]);
  expect(page).not.toContain("secret");
});
