/** Editing an organization's profile in a real browser, with and without JavaScript. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Dashboard, openDashboard } from "../dashboard.ts";
import { auditControls, listBarriers, overflowsSideways } from "../page_audit.ts";

/** Long enough for a busy machine. */
const TIMEOUT_MS = 60_000;

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

async function expectReadable(page: Page, hasScripts: boolean): Promise<void> {
  expect(await overflowsSideways(page)).toBe(false);
  expect((await auditControls(page)).nameless).toEqual([]);
  // axe-core waits for timers, which do not run without scripts.
  if (hasScripts) expect(await listBarriers(page)).toEqual([]);
}

/** Corrects and saves the profile. The browser accepts URL schemes other than http and https, but the API rejects them. */
async function editProfile(page: Page, slug: string, hasScripts: boolean): Promise<void> {
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.getByRole("link", { name: "Edit profile" }).click();
  await page.waitForURL(`**/orgs/${slug}/edit`);
  await page.getByLabel("Name").fill(`An_unbreakable_name_${"x".repeat(100)}`);
  await page.getByLabel("Description").fill("Makes\nthings");
  await page.getByLabel("Website").fill("ftp://acme.example/");
  await page.getByLabel("Website").press("Enter");
  await page.getByRole("alert").waitFor();
  expect(await page.getByLabel("Description").inputValue()).toBe("Makes\nthings");
  expect(await page.locator("#field-websiteUrl-error").textContent()).toBe("Must be an http or https URL");
  await expectReadable(page, hasScripts);
  await page.getByLabel("Website").fill("https://acme.example/");
  await page.getByRole("button", { name: "Save profile" }).click();
  await page.getByText("Profile saved.").waitFor();
  await expectReadable(page, hasScripts);
  await page.locator("main").getByRole("link", { name: "profile", exact: true }).click();
  await page.getByRole("link", { name: "https://acme.example/" }).waitFor();
  await expectReadable(page, hasScripts);
}

for (const [colorScheme, width, javaScriptEnabled] of [
  ["light", 1280, true],
  ["dark", 320, false],
] as const) {
  test(`an admin corrects and saves an organization profile: ${colorScheme}, ${width} px, scripts ${javaScriptEnabled}`, async () => {
    const member = await dashboard.member({ role: "admin" });
    const { id, slug } = member.org;
    const options = { colorScheme, viewport: { width, height: 900 }, javaScriptEnabled };
    await dashboard.visit({ path: `/orgs/${slug}`, as: member, ...options }, (page) =>
      editProfile(page, slug, javaScriptEnabled),
    );
    const rows = await dashboard.db.sql`select description from organizations where id = ${id}`;
    expect([...rows]).toEqual([{ description: "Makes\nthings" }]);
  });
}
