/** Publishing and deprecating a definition in a real browser, with and without JavaScript. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { agentYaml } from "../../helpers/definitions/definitions.ts";
import { waitFor } from "../../helpers/wait_for.ts";
import { type Dashboard, openDashboard } from "../dashboard.ts";

/** Long enough for a busy machine. */
const TIMEOUT_MS = 60_000;

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
}

/** Checks a document with an error, fixes it, publishes two versions and deprecates the first. */
async function publishTwice(page: Page, slug: string, hasScripts: boolean): Promise<void> {
  page.setDefaultTimeout(TIMEOUT_MS);
  const yaml = page.getByLabel("YAML");
  await yaml.fill(agentYaml("reviewer").replace('"1.0.0"', "1.0"));
  await press(page, "Check");
  const link = page.getByRole("link", { name: "Line 4, column 14" });
  await link.click();
  if (hasScripts) {
    expect(await page.evaluate("getSelection().toString()")).toBe("1.0");
    expect(await page.locator(".line-numbers").textContent()).toStartWith("1\n2\n3");
  } else expect(new URL(page.url()).hash).toBe("#field-yaml");
  await yaml.fill(agentYaml("reviewer"));
  await press(page, "Save draft");
  await page.getByText("The draft is saved.").waitFor();
  // Publishes the text in the form, which has not been saved.
  await yaml.fill(agentYaml("reviewer", "1.0.0", { domain: "general" }));
  await press(page, "Save and publish…");
  await press(page, "Publish 1.0.0");
  // Compares only the pathname, because the redirect keeps the fragment of the link that was clicked.
  await page.waitForURL(({ pathname }) => pathname === `/definitions/agent/@${slug}/reviewer@1.0.0`);
  await page.goto(`/definitions/agent/@${slug}/reviewer/edit`);
  await yaml.fill(agentYaml("reviewer", "1.1.0", { domain: "security" }));
  await press(page, "Save and publish…");
  const changes = page.getByRole("group", { name: "Changes of the YAML" });
  expect(await changes.textContent()).toContain("-    domain: general\n+    domain: security");
  await press(page, "Publish 1.1.0");
  await page.waitForURL(({ pathname }) => pathname.endsWith("/reviewer@1.1.0"));
  await page.goto(`/definitions/agent/@${slug}/reviewer@1.0.0/deprecate`);
  await page.getByLabel("Reason").fill("Replaced");
  await page.getByLabel("Successor (optional)").fill("reviewer@1.1.0");
  await press(page, "Deprecate 1.0.0");
  await page.getByText("This version is deprecated.").waitFor();
}

test("leaving a page with unsaved text asks for confirmation, but leaving after saving does not", async () => {
  const member = await dashboard.member();
  const path = "/definitions/new";
  await dashboard.visit({ path, as: member }, async (page) => {
    page.setDefaultTimeout(TIMEOUT_MS);
    const asked: string[] = [];
    page.on("dialog", async (dialog) => {
      asked.push(dialog.type());
      await dialog.dismiss();
    });
    const cancel = page.getByRole("link", { name: "Models" });
    await page.getByLabel("YAML").fill(agentYaml("guarded"));
    await cancel.click();
    await waitFor(() => asked.length === 1);
    expect(asked).toEqual(["beforeunload"]);
    expect(await page.getByLabel("YAML").inputValue()).toBe(agentYaml("guarded"));
    await press(page, "Save draft");
    await page.getByText("The draft is saved.").waitFor();
    await cancel.click();
    await page.waitForURL("**/models**");
    expect(asked).toHaveLength(1);
  });
});

for (const [colorScheme, width, javaScriptEnabled] of [
  ["light", 1280, true],
  ["dark", 320, false],
] as const) {
  test(`a user publishes two versions and deprecates the first: ${colorScheme}, ${width} px, scripts ${javaScriptEnabled}`, async () => {
    const member = await dashboard.member();
    const { slug } = member.org;
    const options = { colorScheme, viewport: { width, height: 900 }, javaScriptEnabled };
    await dashboard.visit({ path: "/definitions/new", as: member, ...options }, (page) =>
      publishTwice(page, slug, javaScriptEnabled),
    );
    const rows = await dashboard.db.sql`
      select version, status from definitions where org_id = ${member.org.id} order by version`;
    expect([...rows]).toEqual([
      { version: "1.0.0", status: "deprecated" },
      { version: "1.1.0", status: "published" },
    ]);
  });
}
