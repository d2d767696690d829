/** The definition pages in Chromium, with and without JavaScript, and with hostile texts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { stringify } from "yaml";
import { HOSTILE_MARKDOWN, HOSTILE_TEXTS } from "../../helpers/definitions/hostile_html.ts";
import { type Dashboard, type Member, openDashboard } from "../dashboard.ts";
import { overflowsSideways } from "../page_audit.ts";

const TABS = ["", "/yaml", "/versions", "/compare", "/dependencies", "/dependents", "/forks", "/usage"];

let dashboard: Dashboard;
let publisher: Member;
beforeAll(async () => {
  dashboard = await openDashboard();
  publisher = await dashboard.member();
  await publishHostile("1.0.0", "first");
  await publishHostile("1.1.0", "second");
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Publishes an agent whose texts are all hostile. */
async function publishHostile(version: string, opener: string): Promise<void> {
  const yaml = stringify({
    agent: {
      interface: {
        name: "hostile",
        version,
        displayName: `${HOSTILE_TEXTS[0]}${HOSTILE_TEXTS[1]}`.slice(0, 200),
        description: [...HOSTILE_TEXTS, "javascript:alert(1)"].join(" "),
        agentType: "explorer",
        domain: "software",
        model: "sonnet",
        tags: HOSTILE_TEXTS.map((text) => text.slice(0, 50)),
        dependencies: { requires: ["nowhere@^1.0.0"] },
      },
      mission: { opener: `${opener}\n\n${HOSTILE_MARKDOWN}` },
    },
  });
  await send("/agent/hostile", { yaml, visibility: "public" });
  await send(`/agent/hostile@${version}/publish`, {});
}

async function send(path: string, body: object): Promise<void> {
  const response = await fetch(`${dashboard.api.url}/api/v1/definitions${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${publisher.token}`,
      "content-type": "application/json",
      "x-org-slug": publisher.org.slug,
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`Cannot send ${path}: ${response.status} ${await response.text()}`);
}

function pathOf(tab: string): string {
  return `/definitions/agent/@${publisher.org.slug}/hostile${tab}`;
}

/**
 * Dismisses dialogs. Returns a list that collects their messages. `visit` reports errors, policy violations and requests to other
 * hosts.
 */
function rejectDialogs(page: Page): string[] {
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  return dialogs;
}

test("hostile text in definitions runs no script, loads no file, and fits a phone's screen on every page", async () => {
  for (const path of ["/definitions", ...TABS.map(pathOf)]) {
    await dashboard.visit({ path, as: publisher, viewport: { width: 320, height: 640 } }, async (page) => {
      const dialogs = rejectDialogs(page);
      expect([path, await overflowsSideways(page)]).toEqual([path, false]);
      const loaded = await page.evaluate<string[]>(
        "[...document.querySelectorAll('img, script, iframe, object, embed, link')].map((e) => e.src || e.href || '')",
      );
      expect(loaded.filter((url) => !url.startsWith(dashboard.api.url))).toEqual([]);
      expect(dialogs).toEqual([]);
    });
  }
});

test("a directional mark in a name does not affect the text beside the name", async () => {
  const yaml = stringify({
    agent: {
      interface: {
        ...{ name: "turned", version: "1.0.0", displayName: "\u202Eturned", description: "Turned." },
        ...{ agentType: "explorer", domain: "software" },
      },
      mission: { opener: "Nothing." },
    },
  });
  await send("/agent/turned", { yaml, visibility: "public" });
  await send("/agent/turned@1.0.0/publish", {});
  await dashboard.visit({ path: "/definitions?search=turned" }, async (page) => {
    const title = page.locator(".row h3").first();
    const [link, name] = [await title.locator("a").boundingBox(), await title.locator("small").boundingBox()];
    expect(name?.x).toBeGreaterThan(link?.x ?? Number.POSITIVE_INFINITY);
  });
});

test("without JavaScript, a user can search, open and compare definitions and view their dependencies", async () => {
  const options = { path: "/definitions", as: publisher, javaScriptEnabled: false };
  await dashboard.visit(options, async (page) => {
    await page.getByRole("searchbox", { name: "Search" }).fill("hostile");
    await page.getByRole("button", { name: "Search" }).click();
    await page.locator(".row h3 a").first().click();
    await page.getByText("first", { exact: false }).or(page.getByText("second")).first().waitFor();
    expect(await page.getByRole("button", { name: "Copy" }).count()).toBe(0);
    await page.getByRole("link", { name: "Compare", exact: true }).click();
    await page.getByLabel("From").selectOption("1.1.0");
    await page.getByLabel("to", { exact: true }).selectOption("1.0.0");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator(".diff-removed").first().waitFor();
    await page.getByRole("link", { name: "Dependencies" }).click();
    await page.getByText("nowhere@^1.0.0").waitFor();
  });
});

test("at twice the font size, labels in the dependency graph stay in their boxes and do not overlap", async () => {
  const dependencies = { requires: ["hostile@^1.0.0"] };
  const fields = {
    name: "a-name-as-long-as-a-box-is",
    version: "1.0.0",
    agentType: "explorer",
    dependencies,
  };
  await send(`/agent/${fields.name}`, { yaml: stringify({ agent: { interface: fields } }) });
  const path = `/definitions/agent/@${publisher.org.slug}/${fields.name}@1.0.0/dependencies`;
  await dashboard.visit({ path, as: publisher }, async (page) => {
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    const boxes = await page.evaluate(`[...document.querySelectorAll(".graph .node")].map((node) => {
      const [box, , name, note] = [...node.querySelectorAll("rect, text")].map((part) => part.getBoundingClientRect());
      return name.bottom <= note.top && Math.max(name.right, note.right) <= box.right;
    })`);
    expect(boxes).toEqual([true, true]);
  });
});

test("the copy button copies the install command", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  await dashboard.visit({ path: pathOf(""), permissions }, async (page) => {
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(copied).toStartWith("curl --create-dirs -fo .claude/agents/hostile.md http");
  });
});
