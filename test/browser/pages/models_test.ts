/** The model pages in Chromium: filtering, comparing and computing costs without JavaScript, with hostile names. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { waitFor } from "../../helpers/wait_for.ts";
import { type Dashboard, openDashboard } from "../dashboard.ts";
import { overflowsSideways } from "../page_audit.ts";

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(1)</script>`;

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
  for (const price of [5, 4, 3]) {
    const models = {
      acme: {
        one: { name: "One", cost: { input: price, output: 9, cache_read: 0.5 }, reasoning: true },
        two: { name: "Two", cost: { input: 2, output: price } },
        hostile: { name: HOSTILE, description: HOSTILE, family: HOSTILE, cost: { input: price, output: 1 } },
      },
      zeta: {
        [`${"long-".repeat(30)}${HOSTILE}`]: {
          name: "Unbreakable".repeat(12),
          cost: { input: 0.1143, output: 0.1715 },
        },
      },
    };
    await syncFrom(dashboard.db.sql, documentSource(makeDocument(models)));
  }
  // The API serves its cached catalog until it has checked for a newer one.
  await waitFor(async () => {
    const response = await fetch(`${dashboard.api.url}/api/v1/models/acme/one`);
    return response.ok && (await response.text()).includes('"input":3');
  });
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test("the printed list of models shows rows but no checkboxes, fields or buttons", async () => {
  await dashboard.visit({ path: "/models" }, async (page) => {
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("tbody tr").first().isVisible()).toBe(true);
    expect(await page.locator("input:visible, select:visible, button:visible").count()).toBe(0);
  });
});

test("models are filtered, compared and priced without JavaScript", async () => {
  const options = { path: "/models", javaScriptEnabled: false };
  await dashboard.visit(options, async (page) => {
    await page.getByLabel("Provider").selectOption("acme");
    await page.getByLabel("Hide free and unknown").check();
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("link", { name: "Output" }).click();
    expect(await page.locator("tbody th a").allTextContents()).toEqual([HOSTILE, "Two", "One"]);
    await page.getByRole("link", { name: /Output/ }).click();
    expect(await page.locator("tbody th a").allTextContents()).toEqual(["One", "Two", HOSTILE]);

    await page.getByLabel("Compare One, acme/one").check();
    await page.getByLabel("Compare Two, acme/two").check();
    await page.getByRole("button", { name: "Compare selected" }).click();
    expect(await page.locator("h1").textContent()).toBe("Compare models");
    expect(await page.locator("figure.price-plot").count()).toBe(3);

    await page.getByRole("link", { name: "One", exact: true }).click();
    await page.getByLabel("Output tokens").fill("2000000");
    await page.getByRole("button", { name: "Compute" }).click();
    expect(await page.locator(".result").textContent()).toBe("$18.30");
    await page.getByLabel("Output tokens").fill("many");
    await page.getByRole("button", { name: "Compute" }).click();
    expect(await page.getByLabel("Output tokens").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("Output tokens").inputValue()).toBe("many");
  });
});

test.each(["/models", "/models/acme/hostile", "/models/compare?model=acme/hostile&model=acme/two"])(
  "%s runs no script from a hostile model name, and the name fits a phone's screen",
  async (path) => {
    await dashboard.visit({ path, viewport: { width: 320, height: 900 } }, async (page) => {
      expect(await page.locator("main").textContent()).toContain(HOSTILE);
      expect(await page.locator("main :is(script, img)").count()).toBe(0);
      expect(await overflowsSideways(page)).toBe(false);
    });
  },
);

test("up to four selected models are counted and stay selected during sorting and filtering", async () => {
  await dashboard.visit({ path: "/models?limit=2&sortBy=name&sortOrder=desc" }, async (page) => {
    const status = page.locator(".bottom-bar [role=status]");
    const boxes = page.locator("tbody input[type=checkbox]");
    await page.getByText("0 of 4 selected").waitFor();
    await page.getByLabel("Compare Two, acme/two").check();
    expect(await status.textContent()).toBe("1 of 4 selected");
    await page.getByRole("link", { name: "Input" }).click();
    await page.waitForURL(/inputCost/);
    expect(await page.getByLabel("Compare Two, acme/two").isChecked()).toBe(true);
    await page.goto("/models?provider=zeta");
    await page.getByText("1 of 4 selected, 1 of them not in this list").waitFor();
    await page.goto("/models");
    for (const box of await boxes.all()) if (!(await box.isChecked())) await box.check();
    expect(await status.textContent()).toBe("4 of 4 selected");
    await page.goto("/models?provider=zeta");
    await page.getByText("4 of 4 selected, 3 of them not in this list").waitFor();
    await boxes.uncheck();
    await page.getByRole("button", { name: "Compare selected" }).click();
    await page.waitForURL(/compare/);
    expect(await page.locator(".compared thead th").count()).toBe(3);
    await page.goBack();
    await page.getByText("3 of 4 selected, 3 of them not in this list").waitFor();
    await page.getByRole("button", { name: "Clear selection" }).click();
    expect(await status.textContent()).toBe("0 of 4 selected");
    expect(await page.getByRole("button", { name: "Clear selection" }).count()).toBe(0);
  });
});

test("a page restored from the back/forward cache shows the selection made on another page", async () => {
  await dashboard.visit({ path: "/models" }, async (page) => {
    const status = page.locator(".bottom-bar [role=status]");
    await page.getByText("0 of 4 selected").waitFor();
    await page.getByLabel("Compare One, acme/one").check();
    // Playwright disables the back/forward cache. `change` simulates a change on another page and the return to this one.
    const change = (models: readonly string[]) =>
      page.evaluate(`sessionStorage.setItem("compared-models", '${JSON.stringify(models)}');
        dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
        sessionStorage.getItem("compared-models")`);
    expect(await change(["acme/two", "a/a"])).toBe('["acme/two","a/a"]');
    expect(await status.textContent()).toBe("2 of 4 selected, 1 of them not in this list");
    expect(await page.getByLabel("Compare One, acme/one").isChecked()).toBe(false);
    expect(await page.getByLabel("Compare Two, acme/two").isChecked()).toBe(true);
    expect(await change([])).toBe("[]");
    expect(await status.textContent()).toBe("0 of 4 selected");
  });
});

test("the selection bar covers no focused element, and is sticky on a phone only while models are selected", async () => {
  for (const viewport of [
    { width: 1280, height: 420 },
    { width: 360, height: 560 },
  ]) {
    await dashboard.visit({ path: "/models", viewport, reducedMotion: "reduce" }, async (page) => {
      await page.getByLabel("Compare One, acme/one").check();
      await page.getByText("1 of 4 selected").waitFor();
      await page.evaluate("scrollTo(0, 0)");
      const covered = [];
      const links = page.locator("tbody :is(input, a)");
      for (let left = await links.count(); left > 0; left--) {
        await page.keyboard.press("Tab");
        const isCovered = await page.evaluate(
          `document.activeElement.matches("tbody *") && document.activeElement.getBoundingClientRect().bottom >
              document.querySelector(".bottom-bar").getBoundingClientRect().top`,
        );
        covered.push(isCovered);
      }
      expect(covered).not.toContain(true);
      await page.getByRole("button", { name: "Clear selection" }).click();
      const position = await page.evaluate(
        "getComputedStyle(document.querySelector('.bottom-bar')).position",
      );
      expect([viewport.width, position]).toEqual([
        viewport.width,
        viewport.width < 640 ? "static" : "sticky",
      ]);
    });
  }
});

test("a fifth model cannot be selected for comparison", async () => {
  await dashboard.visit({ path: "/models" }, async (page) => {
    await page.getByText("0 of 4 selected").waitFor();
    await page.evaluate(
      `sessionStorage.setItem("compared-models", JSON.stringify(["a/a", "a/b", "a/c", "acme/one"]))`,
    );
    await page.reload();
    await page.getByText("4 of 4 selected, 3 of them not in this list").waitFor();
    expect(await page.getByLabel("Compare Two, acme/two").isDisabled()).toBe(true);
    await page.getByLabel("Compare One, acme/one").uncheck();
    await page.getByLabel("Compare Two, acme/two").check();
  });
});

test("on a phone, prices in the list and two models in a comparison are visible", async () => {
  const viewport = { width: 360, height: 780 };
  await dashboard.visit({ path: "/models", viewport }, async (page) => {
    const list = page.getByRole("group", { name: "Models and prices" });
    expect(await list.getByRole("columnheader").allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining("Input"), expect.stringContaining("Output")]),
    );
    for (const name of ["Input", "Output", "Context"]) {
      const box = await list.getByRole("columnheader", { name }).boundingBox();
      expect([name, (box?.x ?? 999) + (box?.width ?? 999) <= viewport.width]).toEqual([name, true]);
    }
    const hidden = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)";
    expect(await page.evaluate(`${hidden}(document.querySelector(".table-box"))`)).toBe(0);
    await page.goto("/models/compare?model=acme/one&model=acme/two");
    for (const name of ["One", "Two"]) {
      const box = await page.getByRole("columnheader", { name }).boundingBox();
      expect([name, (box?.x ?? 999) + (box?.width ?? 999) <= viewport.width]).toEqual([name, true]);
    }
  });
});
