/** Accessibility and layout checks of a page. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

/** Accessibility roles of elements that need a name: controls and images. */
const CONTROLS = new Set([
  ...["button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "DisclosureTriangle"],
  ...["progressbar", "DateTime", "InputTime", "img"],
]);

interface AxNode {
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
}

/** Counts the controls that Chromium exposes to assistive technology, and lists the roles of controls without a name. */
export async function auditControls(page: Page): Promise<{ total: number; nameless: string[] }> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as { nodes: AxNode[] };
  await session.detach();
  const controls = nodes.filter((node) => !node.ignored && CONTROLS.has(node.role?.value ?? ""));
  const nameless = controls.filter((node) => !node.name?.value.trim()).map((node) => node.role?.value ?? "");
  return { total: controls.length, nameless };
}

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/**
 * Returns the serious and critical findings of axe-core, and duplicate landmarks, each with its elements. Findings
 * include targets below 24 px (WCAG 2.2, 2.5.8) and text of any size with a contrast below 4.5 : 1 (1.4.3).
 */
export async function listBarriers(page: Page): Promise<string[]> {
  // Waits for the stylesheet, because users never see the page without it.
  await page.waitForLoadState("load");
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  return page.evaluate(`axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } },
    checks: { "color-contrast": { options: { contrastRatio: { large: { expected: 4.5 } } } } } })
    .then(({ violations }) => violations.filter(({ id, impact }) => ["serious", "critical"].includes(impact) || id === "landmark-unique")
      .map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).slice(0, 3).join(" ")))`);
}

/** Returns the names of the tables that are wider than their boxes. */
export async function listScrollingTables(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll(".table-box")]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map((box) => box.ariaLabel)`);
}

/** Returns whether the page is wider than the window and needs horizontal scrolling. */
export async function overflowsSideways(page: Page): Promise<boolean> {
  return page.evaluate("document.documentElement.scrollWidth > innerWidth");
}
