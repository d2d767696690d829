/** Entry point of `bun run pictures`: writes the pictures of `docs/pages.md` from the demo. Needs Chromium. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { requireNoArguments } from "../../shared/process/arguments.ts";
import { launchBrowser } from "../browser/browser.ts";
import { makeDataDirectory, startStack } from "../helpers/process/stack.ts";

requireNoArguments(
  process,
  "Usage: bun run pictures\n\nTakes the pictures of the documentation from the demo, and writes them to docs/.\n",
);

const DOCS = join(import.meta.dir, "../../docs");
const VIEWPORT = { width: 1280, height: 760 };
const AGENT = "/definitions/agent/@demo/code-reviewer";

/** Picture files below `docs/`, with the pages that they show. These pages show no credentials. */
const PICTURES = {
  "dashboard.png": "/dashboard/exports",
  "pages/home.png": "/",
  "pages/definitions.png": "/definitions",
  "pages/definition.png": AGENT,
  "pages/compare.png": `${AGENT}/compare`,
  "pages/dependencies.png": "/definitions/workflow/@demo/release-readiness/dependencies",
  "pages/edit.png": `${AGENT}@2.0.0/edit`,
  "pages/models.png": "/models?provider=anthropic",
  "pages/model.png": "/models/deepseek/deepseek-chat",
  "pages/usage.png": "/orgs/demo/usage",
  "pages/audit.png": "/orgs/demo/audit",
} as const;

/** Reads a credential that the demo printed for signing in. */
function readCredential(text: string, name: string): string {
  const [, value] = new RegExp(`Sign in, ${name}\\s+(\\S+)`).exec(text) ?? [];
  if (!value) throw new Error(`Cannot find the ${name} among the demo's credentials`);
  return value;
}

using data = makeDataDirectory();
await using stack = await startStack(data.path);
await stack.ready();
const credentials = readFileSync(join(data.path, "demo-credentials.txt"), "utf8");
const browser = await launchBrowser();
const page = await browser.newPage({
  baseURL: `http://localhost:${stack.port}`,
  viewport: VIEWPORT,
  colorScheme: "light",
});
await page.goto("/dashboard/sign-in?next=/dashboard/exports");
await page.getByLabel("Email").fill(readCredential(credentials, "email"));
await page.getByLabel("Password").fill(readCredential(credentials, "password"));
await page.keyboard.press("Enter");
await page.waitForURL(/\/dashboard\/exports/);
await page.getByRole("button", { name: "Start export" }).click();
await page.locator('.job[data-status="ready"]').waitFor();
for (const [file, path] of Object.entries(PICTURES)) {
  const response = await page.goto(path);
  if (response?.status() !== 200) throw new Error(`Cannot open ${path}: status ${response?.status()}`);
  await page.screenshot({ path: join(DOCS, file), scale: "css" });
}
await browser.close();
process.stdout.write(`${Object.keys(PICTURES).length} pictures written to ${DOCS}\n`);
