/** Rules for every page, in both color schemes, on a desktop and on a phone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestApp } from "../../helpers/http/app.ts";
import { openVisit, type Visit } from "../browser.ts";
import { type Dashboard, openDashboard } from "../dashboard.ts";
import { auditControls, listBarriers, listScrollingTables, overflowsSideways } from "../page_audit.ts";
import { makeScene, type Scene, TESTED_PAGES } from "./page_table.ts";

/** Routes that respond with a file or a redirect. */
const NO_PAGES = [
  "/dashboard/exports/jobs/:job/cancel",
  "/dashboard/exports/projects/:project/file",
  "/definitions/:type/:org",
  "/definitions/:type/:org/:name/compare/patch",
  "/settings",
];

let dashboard: Dashboard;
let scene: Scene;
let member: Visit;
let visitor: Visit;
/** Paths of the pages checked so far, by title. */
const titles = new Map<string, string>();
beforeAll(async () => {
  dashboard = await openDashboard({ RATE_LIMIT_USER_PER_MINUTE: "10000" });
  scene = await makeScene(dashboard);
  const options = { origin: dashboard.api.url, reducedMotion: "reduce" } as const;
  member = await openVisit(dashboard.browser, { ...options, token: scene.owner.token });
  visitor = await openVisit(dashboard.browser, options);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Each color scheme is checked at one width, because colors do not change the layout. */
const LOOKS = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 320 },
] as const;
/** Widths of a phone, a tablet and desktop windows, in pixels. */
const WIDTHS = [320, 700, 1000, 1280];

/** Returns the accessibility and layout problems of the page in its current state. */
async function listProblems({ page }: Visit): Promise<string[]> {
  const problems: string[] = [];
  for (const { colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const { nameless } = await auditControls(page);
    const found = [...nameless.map((role) => `${role} without a name`), ...(await listBarriers(page))];
    problems.push(...found.map((problem) => `${colorScheme}, ${width} px: ${problem}`));
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    if (await overflowsSideways(page)) problems.push(`${width} px: wider than the window`);
    const tables = await listScrollingTables(page);
    problems.push(...tables.map((name) => `${width} px: the table "${name}" scrolls`));
  }
  return problems;
}

for (const { name, route, path, isAnonymous, act } of TESTED_PAGES) {
  test(`the page "${name}" has a unique title and no accessibility or layout problems`, async () => {
    const visit = isAnonymous ? visitor : member;
    const { page, faults } = visit;
    const response = await page.goto(path(scene));
    expect(response?.status()).toBe(route === null ? 404 : 200);
    await act?.(page, scene);
    expect([...(await listProblems(visit)), ...faults.splice(0)]).toEqual([]);
    expect(await page.locator("h1").count()).toBe(1);
    const title = await page.title();
    const address = new URL(page.url()).pathname;
    expect([title, titles.get(title) ?? address]).toEqual([title, address]);
    titles.set(title, address);
  });
}

test("the table of tested pages lists every page route", async () => {
  await using api = await openTestApp();
  const routes = api.app.routes.filter(({ method, isPage }) => method === "GET" && isPage);
  const tested = new Set(TESTED_PAGES.map(({ route }) => route).filter((route) => route !== null));
  expect([...tested, ...NO_PAGES].sort()).toEqual(routes.map(({ pattern }) => pattern).sort());
});
