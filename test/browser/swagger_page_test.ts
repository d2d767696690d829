/** Swagger UI in a browser: it loads, accepts a key and sends requests with it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { openVisit } from "./browser.ts";
import { type Dashboard, openDashboard } from "./dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Enters the key in the dialog that "Authorize" opens. */
async function authorize(page: Page, key: string): Promise<void> {
  await page.locator("button.authorize").first().click();
  const dialog = page.locator(".dialog-ux");
  await dialog.locator("input[type=text]").first().fill(key);
  await dialog.locator("button.authorize[type=submit]").first().click();
  await dialog.locator("button.btn-done").first().click();
  await dialog.waitFor({ state: "detached" });
}

/** Opens an operation, fills in these parameters and executes it. Returns the status and body that the page shows. */
async function tryOut(page: Page, operationId: string, values: Readonly<Record<string, string>>) {
  await page.goto(`/swagger#/${operationId}`);
  await page.reload();
  const operation = page.locator(`[id$="-${operationId.split("/").at(-1)}"]`);
  await operation.locator(".try-out__btn").click();
  for (const [name, value] of Object.entries(values)) {
    await operation.locator(`tr[data-param-name="${name}"] input`).fill(value);
  }
  await operation.locator("button.execute").click();
  const row = operation.locator(".live-responses-table tbody tr.response").first();
  const [status, body] = [row.locator(".response-col_status"), row.locator(".response-col_description")];
  return { status: (await status.textContent())?.trim(), body: (await body.textContent()) ?? "" };
}

test("Swagger UI shows every group, calls public routes without a key, and keeps the key after a reload", async () => {
  const { user, org } = await dashboard.member();
  const { key } = await dashboard.make.key({ userId: user.id });
  const { id } = await dashboard.make.project({ orgId: org.id, ownerId: user.id });
  const sent: string[] = [];
  await using visit = await openVisit(dashboard.browser, { origin: dashboard.api.url });
  const { page, faults } = visit;
  page.on("request", (request) => sent.push(request.url()));
  // Swagger UI renders only visible operations, and this viewport is high enough for all of them.
  await page.setViewportSize({ width: 1280, height: 30_000 });
  await page.goto("/swagger");
  await page.locator(".opblock-tag", { hasText: "Operations" }).waitFor();

  const groups = await page.locator(".opblock-tag").allTextContents();
  expect(groups.map((text) => /^[A-Z][a-z]+( [a-z]+)?/.exec(text)?.[0])).toEqual(
    expect.arrayContaining(["Export", "Organizations", "Users", "Model catalog", "Authentication"]),
  );
  expect(groups[0]).toStartWith("Export");
  expect(await page.locator(".errors-wrapper").count()).toBe(0);
  await page.setViewportSize({ width: 1280, height: 900 });

  expect(await tryOut(page, "Export/listExportDatasets", {})).toMatchObject({ status: "200" });
  expect(await tryOut(page, "Organizations/listOrganizations", {})).toMatchObject({ status: "401" });
  await authorize(page, key);
  const { status, body } = await tryOut(page, "Organizations/getOrganization", { slug: org.slug });
  expect([status, body.includes(org.slug)]).toEqual(["200", true]);

  // All other parameters keep their prefilled values.
  const exported = await tryOut(page, "Export/exportIssues", { project: id, "X-Org-Slug": org.slug });
  expect(exported.status).toBe("200");
  expect(sent.filter((url) => url.includes("/export/projects/"))).toEqual([
    `${dashboard.api.url}/api/v1/export/projects/${id}/issues`,
  ]);
  // Swagger UI has no input for a UUID. It logs this and uses a text field.
  expect(faults.filter((fault) => fault !== "Could not find component: JsonSchema_string_uuid")).toEqual([]);
});
