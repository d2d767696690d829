import { expect, test } from "bun:test";
import type { Route } from "../../api/http/route.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { readWithTests, sources } from "./mirror.ts";

/** All public routes. Making a route public requires a deliberate change of this list. */
const PUBLIC_ROUTES = [
  "GET /",
  "GET /.well-known/security.txt",
  "GET /api/v1/definitions",
  "GET /api/v1/definitions/:type/:name",
  "GET /api/v1/definitions/:type/:name/dependencies",
  "GET /api/v1/definitions/:type/:name/dependents",
  "GET /api/v1/definitions/:type/:name/diff",
  "GET /api/v1/definitions/:type/:name/executions",
  "GET /api/v1/definitions/:type/:name/forkable",
  "GET /api/v1/definitions/:type/:name/forks",
  "GET /api/v1/definitions/:type/:name/lineage",
  "GET /api/v1/definitions/:type/:name/versions",
  "GET /api/v1/definitions/translation/version",
  "GET /api/v1/events",
  "GET /api/v1/export/datasets",
  "GET /api/v1/languages",
  "GET /api/v1/languages/:id",
  "GET /api/v1/models",
  "GET /api/v1/models.csv",
  "GET /api/v1/models/:provider/*",
  "GET /api/v1/models/aliases",
  "GET /api/v1/models/held",
  "GET /api/v1/models/history",
  "GET /api/v1/models/history/:provider/*",
  "GET /api/v1/models/providers",
  "GET /api/v1/models/resolve/*",
  "GET /api/v1/orgs/:slug/profile",
  "GET /api/v1/users/:id",
  "GET /confirm-email",
  "GET /dashboard",
  "GET /dashboard/assets/:file",
  "GET /dashboard/exports",
  "GET /dashboard/exports/jobs",
  "GET /dashboard/exports/jobs/:job/cancel",
  "GET /dashboard/exports/projects/:project",
  "GET /dashboard/exports/projects/:project/file",
  "GET /dashboard/sign-in",
  "GET /definitions",
  "GET /definitions/:type/:org",
  "GET /definitions/:type/:org/:name",
  "GET /definitions/:type/:org/:name/archive",
  "GET /definitions/:type/:org/:name/compare",
  "GET /definitions/:type/:org/:name/compare/patch",
  "GET /definitions/:type/:org/:name/delete",
  "GET /definitions/:type/:org/:name/dependencies",
  "GET /definitions/:type/:org/:name/dependents",
  "GET /definitions/:type/:org/:name/deprecate",
  "GET /definitions/:type/:org/:name/edit",
  "GET /definitions/:type/:org/:name/fork",
  "GET /definitions/:type/:org/:name/forks",
  "GET /definitions/:type/:org/:name/publish",
  "GET /definitions/:type/:org/:name/retranslate",
  "GET /definitions/:type/:org/:name/upgrade",
  "GET /definitions/:type/:org/:name/usage",
  "GET /definitions/:type/:org/:name/versions",
  "GET /definitions/:type/:org/:name/yaml",
  "GET /definitions/new",
  "GET /favicon.ico",
  "GET /forgot-password",
  "GET /health/live",
  "GET /health/ready",
  "GET /invitation",
  "GET /metrics",
  "GET /models",
  "GET /models/:provider/*",
  "GET /models/compare",
  "GET /orgs/:slug",
  "GET /orgs/:slug/audit",
  "GET /orgs/:slug/edit",
  "GET /orgs/:slug/end",
  "GET /orgs/:slug/members",
  "GET /orgs/:slug/members/:userId",
  "GET /orgs/:slug/members/:userId/remove",
  "GET /orgs/:slug/projects",
  "GET /orgs/:slug/projects/:project",
  "GET /orgs/:slug/usage",
  "GET /orgs/:slug/webhooks",
  "GET /orgs/:slug/webhooks/:id",
  "GET /orgs/:slug/webhooks/:id/delete",
  "GET /reset-password",
  "GET /schemas/:file",
  "GET /security-policy",
  "GET /settings",
  "GET /settings/keys",
  "GET /settings/keys/:id/revoke",
  "GET /settings/organizations",
  "GET /settings/profile",
  "GET /settings/second-factor",
  "GET /settings/second-factor/:id/remove",
  "GET /settings/sessions",
  "GET /settings/sessions/:id/end",
  "GET /settings/sessions/end-others",
  "GET /sign-up",
  "GET /sign-up/confirm",
  "GET /swagger",
  "GET /swagger/assets/:file",
  "GET /swagger/json",
  "POST /api/v1/auth/email/confirm",
  "POST /api/v1/auth/login",
  "POST /api/v1/auth/login/second-factor",
  "POST /api/v1/auth/login/second-factor/options",
  "POST /api/v1/auth/password/reset",
  "POST /api/v1/auth/password/reset/confirm",
  "POST /api/v1/auth/sign-up",
  "POST /api/v1/auth/sign-up/confirm",
  "POST /api/v1/invitations/preview",
  "POST /api/v1/models/cost",
  "POST /api/v1/users/batch",
  "POST /confirm-email",
  "POST /dashboard/exports",
  "POST /dashboard/exports/jobs/:job/cancel",
  "POST /dashboard/sign-in",
  "POST /dashboard/sign-in/second-factor",
  "POST /dashboard/sign-out",
  "POST /definitions/:type/:org/:name/archive",
  "POST /definitions/:type/:org/:name/delete",
  "POST /definitions/:type/:org/:name/deprecate",
  "POST /definitions/:type/:org/:name/edit",
  "POST /definitions/:type/:org/:name/fork",
  "POST /definitions/:type/:org/:name/publish",
  "POST /definitions/:type/:org/:name/retranslate",
  "POST /definitions/:type/:org/:name/upgrade",
  "POST /definitions/new",
  "POST /forgot-password",
  "POST /invitation",
  "POST /orgs/:slug/edit",
  "POST /orgs/:slug/end",
  "POST /orgs/:slug/members",
  "POST /orgs/:slug/members/:userId",
  "POST /orgs/:slug/members/:userId/remove",
  "POST /orgs/:slug/projects",
  "POST /orgs/:slug/projects/:project",
  "POST /orgs/:slug/webhooks",
  "POST /orgs/:slug/webhooks/:id",
  "POST /orgs/:slug/webhooks/:id/delete",
  "POST /reset-password",
  "POST /settings/keys",
  "POST /settings/keys/:id/revoke",
  "POST /settings/organizations",
  "POST /settings/profile",
  "POST /settings/second-factor",
  "POST /settings/second-factor/:id/remove",
  "POST /settings/sessions/:id/end",
  "POST /settings/sessions/end-others",
  "POST /sign-up",
  "POST /sign-up/confirm",
];

/** Returns a path that matches the route. */
function examplePath(route: Route): string {
  return route.pattern.replaceAll(/:\w+/g, "x").replaceAll("*", "x");
}

test("only the listed routes are public", async () => {
  await using api = await openTestApp();
  const open = api.app.routes.filter(({ access }) => access === "public");
  expect(open.map((route) => `${route.method} ${route.pattern}`).sort()).toEqual(PUBLIC_ROUTES);
});

test("every route that is not public returns 401 without a credential", async () => {
  await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 10_000 } });
  const closed = api.app.routes.filter((route) => route.access !== "public");
  expect(closed.length).toBeGreaterThan(0);
  for (const route of closed) {
    const { status } = await api.request(examplePath(route), { method: route.method });
    expect([route.method, route.pattern, status]).toEqual([route.method, route.pattern, 401]);
  }
});

/** Returns the paths of the routes in a source file, as written there. */
function listPaths(text: string): string[] {
  const operations = text.includes("= operation(")
    ? text.matchAll(/^ {4}(?: {2})?path: "(\/[^"]*)",$/gm)
    : [];
  const pages = [...text.matchAll(/\[\s*"(GET|POST|FORM)",\s*"(\/[^"]*)",\s*"(?:all|signedIn)",/g)];
  return [
    ...[...operations].map((match) => match[1] ?? ""),
    // A form adds two routes, a GET and a POST.
    ...pages.flatMap(([, method, path = ""]) => (method === "FORM" ? [path, path] : [path])),
  ];
}

/** Returns the word that a test of the route must contain: the last fixed part of the route's path. */
function wordOf(path: string): string {
  return path.split("/").findLast((part) => /^[a-z.]/.test(part)) ?? "";
}

test("every route is mentioned in the tests for its source file", async () => {
  const missing: string[] = [];
  let found = 0;
  for (const source of sources.filter((path) => path.startsWith("api/"))) {
    const { text, tests } = await readWithTests(source);
    for (const path of listPaths(text)) {
      found += 1;
      if (!tests.some((test) => test.includes(wordOf(path)))) missing.push(`${source}.ts: ${path}`);
    }
  }
  expect(missing).toEqual([]);
  await using api = await openTestApp();
  expect(found).toBe(api.app.routes.length);
});
