import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { makeBusyPlace } from "./busy_place.ts";
import { type Dashboard, type Member, openDashboard } from "./dashboard.ts";
import { auditControls, listBarriers, overflowsSideways } from "./page_audit.ts";

let dashboard: Dashboard;
let publisher: Member;
beforeAll(async () => {
  dashboard = await openDashboard();
  publisher = await makeBusyPlace(dashboard);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Waits for the five jobs, opens the first project and waits for its estimate. */
async function openAll(page: Page): Promise<void> {
  await page.locator(".job").nth(4).waitFor();
  await page.locator("summary").first().click();
  await page.getByText(/0 rows, about/).waitFor();
}

const WINDOWS = {
  phone: { width: 320, height: 640 },
  // 1280 px at 200 % zoom.
  zoomed: { width: 640, height: 450 },
  tablet: { width: 768, height: 1024 },
  desktop: { width: 1280, height: 900 },
};

for (const colorScheme of ["light", "dark"] as const) {
  test(`the exports page is readable in ${colorScheme} colors at every width, and all controls have accessible names`, async () => {
    const path = "/dashboard/exports";
    await dashboard.visit({ path, as: publisher, colorScheme, viewport: WINDOWS.desktop }, async (page) => {
      await openAll(page);
      for (const [name, size] of Object.entries(WINDOWS)) {
        await page.setViewportSize(size);
        expect([name, await overflowsSideways(page)]).toEqual([name, false]);
      }
      expect(await listBarriers(page)).toEqual([]);
      const { total, nameless } = await auditControls(page);
      expect(nameless).toEqual([]);
      expect(total).toBeGreaterThan(30);
      const ground = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
      expect(ground).toBe(colorScheme === "dark" ? "rgb(17, 20, 26)" : "rgb(245, 246, 248)");
    });
  });
}

test("on a phone, long project names stay next to their markers, and download links form one column", async () => {
  const path = "/dashboard/exports";
  await dashboard.visit({ path, as: publisher, viewport: WINDOWS.phone }, async (page) => {
    await openAll(page);
    const summary = page.locator("summary").filter({ hasText: "An_unbreakable_name_" });
    const [box, name] = await Promise.all([summary.boundingBox(), summary.locator("span").boundingBox()]);
    // The name must be on its marker's line, with only padding above the name.
    expect((name?.y ?? Infinity) - (box?.y ?? 0)).toBeLessThan(16);
    const links = await page.locator(".dataset .links").all();
    const lefts = await Promise.all(links.map(async (link) => (await link.boundingBox())?.x));
    expect(lefts.length).toBe(8);
    expect(new Set(lefts).size).toBe(1);
  });
});

test("a long project name that cannot wrap leaves the table's other columns visible", async () => {
  const path = `/orgs/${publisher.org.slug}/projects`;
  await dashboard.visit({ path, as: publisher, viewport: WINDOWS.desktop }, async (page) => {
    await page.getByText(/^An_unbreakable_name_/).waitFor();
    const box = await page.getByRole("columnheader", { name: "Created" }).boundingBox();
    expect((box?.x ?? Infinity) + (box?.width ?? 0)).toBeLessThan(WINDOWS.desktop.width);
  });
});

test("the Revoke button stays visible beside a long key name, and covers no other cell", async () => {
  const name = "A_key_whose_name_cannot_be_broken".repeat(2);
  await dashboard.db.sql`update api_keys set name = ${name} where user_id = ${publisher.user.id}`;
  for (const viewport of [WINDOWS.phone, WINDOWS.tablet, WINDOWS.desktop]) {
    await dashboard.visit({ path: "/settings/keys", as: publisher, viewport }, async (page) => {
      const button = page.getByRole("link", { name: `Revoke ${name}` }).first();
      const box = await button.boundingBox();
      expect(box?.x).toBeGreaterThan(0);
      expect((box?.x ?? Infinity) + (box?.width ?? 0)).toBeLessThanOrEqual(viewport.width);
      const overlapped = await page.evaluate<string[]>(`(() => {
        const box = document.querySelector("tbody .button").getBoundingClientRect();
        return [...document.querySelectorAll("tbody tr:first-child > *")].filter((cell) => {
          const { left, right, top, bottom } = cell.getBoundingClientRect();
          return left < box.right && right > box.left && top < box.bottom && bottom > box.top;
        }).map((cell) => cell.tagName);
      })()`);
      expect(overlapped).toHaveLength(1);
    });
  }
});

test("on a phone, each cell in the list of keys shows its column heading", async () => {
  const viewport = WINDOWS.phone;
  await dashboard.visit({ path: "/settings/keys", as: publisher, viewport }, async (page) => {
    const headings = await page.evaluate<string[]>(
      "[...document.querySelectorAll('tbody tr:first-child td')].map((cell) => getComputedStyle(cell, '::before').content)",
    );
    expect(headings).toContain('"Last used"');
  });
});

test("on a phone, a button with a long word is no wider than the page", async () => {
  await dashboard.visit({ path: "/nowhere", viewport: WINDOWS.phone }, async (page) => {
    await page.evaluate(`(() => {
      const actions = document.createElement("p");
      actions.className = "actions";
      actions.innerHTML = '<a class="button">Donaudampfschifffahrtsgesellschaftskapitaensanwaerterin</a>';
      document.querySelector("#content").append(actions);
    })()`);
    expect(await overflowsSideways(page)).toBe(false);
  });
});

test("right-to-left text is laid out from right to left", async () => {
  await dashboard.visit({ path: "/definitions" }, async (page) => {
    const [first = 0, last = 0] = await page.evaluate<number[]>(`(() => {
      const text = document.querySelector(".lead").firstChild;
      text.data = "\u064a\u0631\u0627\u062c\u0639 code.";
      return [0, text.length - 1].map((at) => {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        return range.getBoundingClientRect().left;
      });
    })()`);
    expect(last).toBeLessThan(first);
  });
});

test("on a phone, words in buttons and tables are not broken across lines", async () => {
  await dashboard.visit({ path: "/nowhere", viewport: WINDOWS.phone }, async (page) => {
    const cells = ["MERGE", "Everything is fine and nobody objects to it", "It is merged afterwards"];
    const table = `<table><tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr></table>`;
    const lines = await page.evaluate<number[]>(`(() => {
      const box = document.createElement("div");
      box.className = "card prose";
      box.innerHTML = ${JSON.stringify(`<div class="scroll">${table}</div>`)};
      document.querySelector("main").append(box);
      return ["td", 'main a[href="/dashboard/exports"]'].map((selector) => {
        const range = document.createRange();
        range.selectNodeContents(document.querySelector(selector));
        return range.getClientRects().length;
      });
    })()`);
    expect(lines).toEqual([1, 1]);
  });
});

test("buttons are at least 24 px high, and 44 px on a touch screen", async () => {
  const path = "/dashboard/exports";
  for (const hasTouch of [false, true]) {
    const options = { path, as: publisher, viewport: WINDOWS.phone, hasTouch, isMobile: hasTouch };
    await dashboard.visit(options, async (page) => {
      await openAll(page);
      // Reads all heights in one call, because scripts replace rows while the page is open.
      const heights = await page.evaluate<number[]>(
        "[...document.querySelectorAll('button, .button')].filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect().height)",
      );
      expect(heights.length).toBeGreaterThan(15);
      expect(Math.min(...heights)).toBeGreaterThanOrEqual(hasTouch ? 44 : 24);
    });
  }
});

test("the calendar button of a date field is at least 24 px high and wide", async () => {
  await dashboard.visit({ path: "/settings/keys", as: publisher }, async (page) => {
    const session = await page.context().newCDPSession(page);
    await session.send("DOM.enable");
    await session.send("DOM.getDocument");
    // The button is in the input's shadow tree, which page selectors cannot reach.
    const query = "[pseudo='-webkit-calendar-picker-indicator']";
    const { searchId } = await session.send("DOM.performSearch", { query, includeUserAgentShadowDOM: true });
    const found = await session.send("DOM.getSearchResults", { searchId, fromIndex: 0, toIndex: 1 });
    const { model } = await session.send("DOM.getBoxModel", { nodeId: found.nodeIds[0] ?? 0 });
    expect(Math.min(model.width, model.height)).toBeGreaterThanOrEqual(24);
  });
});

test("on a phone, a signed-in user's page header leaves most of the screen to the content", async () => {
  const viewport = { width: 360, height: 740 };
  const options = { path: "/definitions", as: publisher, viewport, hasTouch: true, isMobile: true };
  await dashboard.visit(options, async (page) => {
    expect((await page.locator("header").boundingBox())?.height).toBeLessThan(180);
    expect(await page.getByRole("button", { name: "Sign out" }).isVisible()).toBe(true);
    expect(await page.getByLabel("Organization", { exact: true }).isVisible()).toBe(true);
  });
});

test.each([
  ["on a phone without scripts", { width: 360, height: 740 }, false],
  ["on a tablet", { width: 900, height: 740 }, true],
])(
  "%s, the organization selector is wide enough for a name and sits beside the next button",
  async (_, viewport, javaScriptEnabled) => {
    const options = { path: "/definitions", as: publisher, viewport, javaScriptEnabled };
    await dashboard.visit(options, async (page) => {
      const select = page.getByLabel("Organization", { exact: true });
      const name = javaScriptEnabled ? "Sign out" : "Switch";
      const [box, button] = await Promise.all([
        select.boundingBox(),
        page.getByRole("button", { name }).boundingBox(),
      ]);
      expect(box?.width).toBeGreaterThan(140);
      expect(button?.x).toBeGreaterThan((box?.x ?? 0) + (box?.width ?? 0));
      expect(Math.abs((button?.y ?? 0) - (box?.y ?? 0))).toBeLessThan(10);
    });
  },
);

test("in dark colors, placeholders are as readable as other secondary text", async () => {
  await dashboard.visit({ path: "/", as: publisher, colorScheme: "dark" }, async (page) => {
    const color = await page.evaluate(
      `getComputedStyle(document.querySelector("input[placeholder]"), "::placeholder").color`,
    );
    expect(color).toBe("rgb(165, 175, 191)");
  });
});

test("scripts work if the browser reports a malformed language tag", async () => {
  await dashboard.visit({ path: "/", as: publisher }, async (page) => {
    await page.addInitScript(`Object.defineProperty(navigator, "languages", { get: () => ["en-US@posix"] })`);
    // `visit` throws if a script fails.
    await page.goto("/settings/profile");
    await page.waitForLoadState("networkidle");
  });
});

test("a printed page shows its text and no controls", async () => {
  await dashboard.visit({ path: "/dashboard/exports", as: publisher, colorScheme: "dark" }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const visible = await page.evaluate<string[]>(
      "[...document.querySelectorAll('nav, form, button, .button')].filter((each) => each.checkVisibility()).map((each) => each.outerHTML)",
    );
    expect(visible).toEqual([]);
    expect(await page.getByRole("heading", { name: "Data exports" }).isVisible()).toBe(true);
    const ground = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    expect(ground).toBe("rgb(245, 246, 248)");
  });
});

test("the not-found page links to other pages on a phone, by keyboard and without scripts", async () => {
  const options = { path: "/nowhere", viewport: WINDOWS.phone, javaScriptEnabled: false };
  await dashboard.visit(options, async (page) => {
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    expect(await page.getByRole("main").getByRole("link").count()).toBe(3);
    await page.getByRole("main").getByRole("link", { name: "Dashboard" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/dashboard\/sign-in/);
  });
});

test.each([
  ["models", ".empty"],
  ["definitions", ".empty"],
])("on a phone, /%s collapses its filters and shows its first row without scrolling", async (path, row) => {
  const filters = (page: Page) => page.locator(".more-filters select").first();
  const options = { path: `/${path}`, javaScriptEnabled: false };
  await dashboard.visit({ ...options, viewport: WINDOWS.phone }, async (page) => {
    expect(await filters(page).isVisible()).toBe(false);
    expect((await page.locator(row).first().boundingBox())?.y).toBeLessThan(WINDOWS.phone.height);
    await page.getByText("Filters", { exact: true }).click();
    await filters(page).waitFor({ state: "visible" });
  });
  await dashboard.visit({ ...options, viewport: WINDOWS.desktop }, async (page) => {
    expect(await filters(page).isVisible()).toBe(true);
    expect(await page.getByText("Filters", { exact: true }).isVisible()).toBe(false);
  });
});

test("the first Tab press focuses the skip link, and focused elements have an outline", async () => {
  const path = "/dashboard/exports";
  await dashboard.visit({ path, as: publisher, reducedMotion: "reduce" }, async (page) => {
    await page.locator(".job").first().waitFor();
    await page.keyboard.press("Tab");
    const skip = page.getByRole("link", { name: "Skip to content" });
    expect(await skip.boundingBox()).toMatchObject({ x: 8, y: 8 });
    await page.keyboard.press("Enter");
    await page.locator("#content:focus").waitFor();
    await page.keyboard.press("Tab");
    const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
    expect(outline).toBe("solid");
    expect(await page.evaluate("getComputedStyle(document.documentElement).scrollBehavior")).toBe("auto");
  });
});

test.each([true, false])(
  "submitting an invalid field focuses the error, which links to the field; scripts: %p",
  async (javaScriptEnabled) => {
    const options = { path: "/settings/organizations", as: publisher, javaScriptEnabled };
    await dashboard.visit(options, async (page) => {
      await page.getByLabel("Name").fill("Night Shift");
      await page.getByLabel("Slug").fill("Night Shift!");
      await page.keyboard.press("Enter");
      await page.locator(".problem:focus").filter({ hasText: "slug must be" }).waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      const field = page.locator("#field-slug:focus");
      expect(await field.inputValue()).toBe("Night Shift!");
      const color = await page.evaluate("getComputedStyle(document.activeElement).borderColor");
      expect(color).toBe("rgb(163, 32, 28)");
    });
  },
);
