/** Pages whose scripts use sessionStorage, in a browser that denies it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { documentSource, makeDocument, syncFrom } from "../helpers/models/catalog.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type Dashboard, openDashboard } from "./dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Reloads the page with sessionStorage blocked. Chromium throws the same error if a user blocks storage. */
async function reloadWithoutStorage(page: Page): Promise<void> {
  await page.addInitScript(`Object.defineProperty(window, "sessionStorage", {
    get() { throw new DOMException("Access is denied for this document.", "SecurityError") } })`);
  await page.reload();
}

test("without sessionStorage, the exports page still starts an export and shows a project's downloads", async () => {
  const member = await dashboard.member();
  const { org, user } = member;
  await dashboard.make.project({ orgId: org.id, ownerId: user.id, name: "Checkout Service" });
  const path = `/dashboard/exports?org=${org.slug}`;
  await dashboard.visit({ path, as: member }, async (page) => {
    await reloadWithoutStorage(page);
    await page.locator("summary").filter({ hasText: "Checkout Service" }).click();
    await page.locator(".dataset").first().waitFor();
    await page.locator("input[value=csv]").check();
    await page.getByRole("button", { name: "Start export" }).click();
    await page.locator(".job").waitFor();
  });
});

test("without sessionStorage, the models page still counts and compares selected models", async () => {
  const cost = { input: 1, output: 2 };
  const models = { acme: { one: { name: "One", cost }, two: { name: "Two", cost } } };
  await syncFrom(dashboard.db.sql, documentSource(makeDocument(models)));
  // The API serves its cached catalog until it has checked for a newer one.
  await waitFor(async () => (await fetch(`${dashboard.api.url}/api/v1/models/acme/one`)).ok);
  await dashboard.visit({ path: "/models" }, async (page) => {
    await reloadWithoutStorage(page);
    await page.getByText("0 of 4 selected").waitFor();
    await page.getByLabel("Compare One, acme/one").check();
    await page.getByLabel("Compare Two, acme/two").check();
    await page.getByText("2 of 4 selected").waitFor();
    await page.getByRole("button", { name: "Compare selected" }).click();
    await page.waitForURL(/compare/);
    expect(await page.locator(".compared thead th").count()).toBe(2);
  });
});
