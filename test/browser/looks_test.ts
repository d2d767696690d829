import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Dashboard, type Member, openDashboard } from "./dashboard.ts";
import { auditControls, listFaintText, overflowsSideways } from "./page_audit.ts";

let dashboard: Dashboard;
let publisher: Member;
beforeAll(async () => {
  dashboard = await openDashboard();
  publisher = await makeBusyPlace();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** An organization with a job in every state, long names, and enough projects for the filter. */
async function makeBusyPlace(): Promise<Member> {
  const member = await dashboard.member();
  const { org, user } = member;
  for (let count = 0; count < 9; count += 1) {
    const name = count === 0 ? "An_unbreakable_name_".repeat(8) : `Project ${count}`;
    await dashboard.make.project({ orgId: org.id, ownerId: user.id, name });
  }
  const at = "2026-02-01T10:00:00.000Z";
  const built = {
    startedAt: at,
    readyAt: at,
    finishedAt: at,
    expiresAt: "2999-01-01T00:00:00.000Z",
    attempt: 1,
    projectsTotal: 9,
    projectsDone: 9,
    rowsWritten: 1_234_567,
    bytesWritten: 98_765_432,
    artifactKey: "k",
    artifactFileName: "f.zip",
    artifactBytes: 98_765_432,
    artifactSha256: "a".repeat(64),
  };
  const failed = { status: "failed", finishedAt: at, errorMessage: "It failed" };
  const everything = {
    includeDeleted: true,
    includeArchived: true,
    includeSuperseded: true,
    includeResolved: false,
  };
  await dashboard.job(member, { ...built, status: "ready" });
  await dashboard.job(member, { ...built, status: "expired" });
  await dashboard.job(member, { ...failed, errorCode: "ARTIFACT_STORAGE_FAILED", ...everything });
  await dashboard.job(member, { ...failed, errorCode: "CANCELED" });
  await dashboard.job(member, {
    status: "running",
    startedAt: at,
    attempt: 1,
    projectsTotal: 9,
    projectsDone: 2,
  });
  return member;
}

/** Opens everything that can be opened. */
async function openAll(page: Page): Promise<void> {
  await page.locator(".job").nth(4).waitFor();
  await page.locator("summary").first().click();
  await page.getByText(/0 rows, about/).waitFor();
}

const WINDOWS = {
  phone: { width: 320, height: 640 },
  // 1280 pixels at 200 %.
  zoomed: { width: 640, height: 450 },
  desktop: { width: 1280, height: 900 },
};

for (const colorScheme of ["light", "dark"] as const) {
  test(`the exports page is readable in ${colorScheme}, from a phone's width on, and its controls have names`, async () => {
    const path = `/dashboard/exports?org=${publisher.org.slug}`;
    await dashboard.visit({ path, as: publisher, colorScheme, viewport: WINDOWS.desktop }, async (page) => {
      await openAll(page);
      for (const [name, size] of Object.entries(WINDOWS)) {
        await page.setViewportSize(size);
        expect([name, await overflowsSideways(page)]).toEqual([name, false]);
      }
      expect(await listFaintText(page)).toEqual([]);
      const { total, nameless } = await auditControls(page);
      expect(nameless).toEqual([]);
      expect(total).toBeGreaterThan(30);
      const ground = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
      expect(ground).toBe(colorScheme === "dark" ? "rgb(17, 20, 26)" : "rgb(245, 246, 248)");
    });
  });
}

test("on a phone, long names stand beside their markers, and downloads are in one column", async () => {
  const path = `/dashboard/exports?org=${publisher.org.slug}`;
  await dashboard.visit({ path, as: publisher, viewport: WINDOWS.phone }, async (page) => {
    await openAll(page);
    const summary = page.locator("summary").filter({ hasText: "An_unbreakable_name_" });
    const [box, name] = await Promise.all([summary.boundingBox(), summary.locator("span").boundingBox()]);
    // The padding, and not the height of a line with nothing but the marker above it.
    expect((name?.y ?? Infinity) - (box?.y ?? 0)).toBeLessThan(16);
    const links = await page.locator(".dataset .links").all();
    const lefts = await Promise.all(links.map(async (link) => (await link.boundingBox())?.x));
    expect(lefts.length).toBe(8);
    expect(new Set(lefts).size).toBe(1);
  });
});

test("buttons are at least 24 px high, and 44 px under a finger", async () => {
  const path = `/dashboard/exports?org=${publisher.org.slug}`;
  for (const hasTouch of [false, true]) {
    const options = { path, as: publisher, viewport: WINDOWS.phone, hasTouch, isMobile: hasTouch };
    await dashboard.visit(options, async (page) => {
      await openAll(page);
      const buttons = await page.locator("button:visible, .button:visible").all();
      expect(buttons.length).toBeGreaterThan(15);
      const heights = await Promise.all(buttons.map(async (button) => (await button.boundingBox())?.height));
      expect(Math.min(...heights.map((height) => height ?? 0))).toBeGreaterThanOrEqual(hasTouch ? 44 : 24);
    });
  }
});

test("the sign-in page is readable in both, at every width", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const path = "/dashboard/sign-in?next=/dashboard/exports";
    await dashboard.visit({ path, colorScheme, viewport: WINDOWS.phone }, async (page) => {
      await page.getByLabel("Email").fill("nobody@example.com");
      await page.getByLabel("Password").fill("wrong");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({ hasText: "Wrong email or password." }).waitFor();
      expect(await overflowsSideways(page)).toBe(false);
      expect(await listFaintText(page)).toEqual([]);
      expect((await auditControls(page)).nameless).toEqual([]);
    });
  }
});

test("the page of a wrong address is readable in both, on a phone, by keyboard and without scripts", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const options = { path: "/nowhere", colorScheme, viewport: WINDOWS.phone, javaScriptEnabled: false };
    await dashboard.visit(options, async (page) => {
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
      const links = await page.getByRole("main").getByRole("link").all();
      const heights = await Promise.all(links.map(async (link) => (await link.boundingBox())?.height ?? 0));
      expect(heights.length).toBe(3);
      expect(Math.min(...heights)).toBeGreaterThanOrEqual(24);
    });
    await dashboard.visit({ ...options, javaScriptEnabled: true }, async (page) => {
      expect(await overflowsSideways(page)).toBe(false);
      expect(await listFaintText(page)).toEqual([]);
      await page.getByRole("main").getByRole("link", { name: "Dashboard" }).focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/dashboard\/sign-in/);
    });
  }
});

test("the first Tab offers to skip to the content, and the focus is seen", async () => {
  const path = `/dashboard/exports?org=${publisher.org.slug}`;
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
