/** What holds for every page, in both color schemes, on a desktop and on a phone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PAGE_FIELD } from "../../../api/http/access.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openVisit, type Visit } from "../browser.ts";
import { type Dashboard, openDashboard } from "../dashboard.ts";
import { auditControls, listBarriers, listFaintText, overflowsSideways } from "../page_audit.ts";
import { makeScene, type Scene, TESTED_PAGES } from "./page_table.ts";

const TIMEOUT_MS = 240_000;
const WIDTHS = [1280, 320];
/** Routes whose response is a file or leads to another page. */
const NO_PAGES = [
  "/dashboard/exports/projects/:project/file",
  "/definitions/:type/:org",
  "/definitions/:type/:org/:name/compare/patch",
  "/settings/",
];

let dashboard: Dashboard;
let scene: Scene;
let member: Visit;
let visitor: Visit;
/** The page that has the title. */
const titles = new Map<string, string>();
beforeAll(async () => {
  dashboard = await openDashboard({ RATE_LIMIT_USER_PER_MINUTE: "10000" });
  scene = await makeScene(dashboard);
  const options = { origin: dashboard.api.url, reducedMotion: "reduce" } as const;
  member = await openVisit(dashboard.browser, { ...options, token: scene.owner.token });
  visitor = await openVisit(dashboard.browser, options);
}, TIMEOUT_MS);
afterAll(() => dashboard[Symbol.asyncDispose]());

/**
 * Returns what keeps people from reading or using the page as it is shown now. axe-core takes long: it looks at each scheme
 * and at each width once.
 */
async function listProblems({ page }: Visit, colorScheme: "light" | "dark"): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  const problems = (await listFaintText(page)).map((text) => `faint: ${text}`);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    if (await overflowsSideways(page)) problems.push(`wider than ${width} px`);
    problems.push(
      ...(await auditControls(page)).nameless.map((role) => `${role} without a name, ${width} px`),
    );
    if ((colorScheme === "light") === (width === 1280)) problems.push(...(await listBarriers(page)));
  }
  return problems.map((problem) => `${colorScheme}: ${problem}`);
}

for (const { name, route, path, isAnonymous, act } of TESTED_PAGES) {
  test(
    `everyone can read and use the page "${name}"`,
    async () => {
      const visit = isAnonymous ? visitor : member;
      const { page, faults } = visit;
      const response = await page.goto(path(scene));
      expect(response?.status()).toBe(route === null ? 404 : 200);
      await act?.(page);
      const problems = [...(await listProblems(visit, "light")), ...(await listProblems(visit, "dark"))];
      expect([...problems, ...faults.splice(0)]).toEqual([]);
      expect(await page.locator("h1").count()).toBe(1);
      const title = await page.title();
      const address = new URL(page.url()).pathname;
      expect([title, titles.get(title) ?? address]).toEqual([title, address]);
      titles.set(title, address);
    },
    TIMEOUT_MS,
  );
}

test("the pages above are all pages", async () => {
  await using api = await openTestApp();
  const routes = api.app.routes.filter(({ method, hooks }) => {
    const { detail = {} } = hooks as { detail?: object };
    return method === "GET" && PAGE_FIELD in detail;
  });
  const tested = new Set(TESTED_PAGES.map(({ route }) => route).filter((route) => route !== null));
  expect([...tested, ...NO_PAGES].sort()).toEqual(routes.map(({ path }) => path).sort());
});
