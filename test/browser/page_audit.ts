/** What can be measured of whether people can read and use a page. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

/** Roles that people act with: each needs a name that says what for. */
const CONTROLS = new Set([
  ...["button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "DisclosureTriangle"],
  ...["progressbar", "DateTime", "InputTime", "img"],
]);

interface AxNode {
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
}

/** How many controls Chromium shows to assistive technology, and the roles of those without a name. */
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
 * Returns the serious and critical findings of axe-core, each with its elements. Targets below 24 px (WCAG 2.2, 2.5.8) are
 * among them.
 */
export async function listBarriers(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  return page.evaluate(`axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })
    .then(({ violations }) => violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
      .map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).slice(0, 3).join(" ")))`);
}

/** Whether something is wider than the window, so that one would have to scroll sideways to read. */
export async function overflowsSideways(page: Page): Promise<boolean> {
  return page.evaluate("document.documentElement.scrollWidth > innerWidth");
}

/**
 * Text whose contrast with what is behind it is below 4.5 : 1 (WCAG 2.2, 1.4.3), as `ratio text`. Grounds are plain
 * colours here, so the nearest one that is not transparent counts.
 */
export async function listFaintText(page: Page): Promise<string[]> {
  return page.evaluate(FIND_FAINT_TEXT);
}

/** Runs in the page. */
const FIND_FAINT_TEXT = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (color) => {
    const [r, g, b] = rgba(color).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (rgba(color)[3] === 255) return color;
    }
    throw new Error("Cannot find the ground of the page");
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(groundOf(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(ratio.toFixed(2) + " " + walker.currentNode.data.trim());
  }
  return faint;
})()`;
