import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { testZip } from "../helpers/exports/zip_file.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type Dashboard, type Member, openDashboard } from "./dashboard.ts";

const DATASET_MAX_ROWS = 4;

let dashboard: Dashboard;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ulr-downloads-"));
  dashboard = await openDashboard({
    EXPORT_SYNC_MAX_ROWS: String(DATASET_MAX_ROWS),
    EXPORT_BUNDLE_MAX_ROWS: "6",
    EXPORT_JOBS_PER_HOUR: "2",
  });
});
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function exportsOf({ org }: Member): string {
  return `/dashboard/exports?org=${org.slug}`;
}

/** Creates a project with this many issues in the member's organization. */
async function makeProject({ org, user }: Member, name: string, issues = 1) {
  const project = await dashboard.make.project({ orgId: org.id, ownerId: user.id, name });
  for (let count = 0; count < issues; count += 1) {
    await dashboard.make.issue({ projectId: project.id, createdAt: "2026-01-01T00:00:00.000Z" });
  }
  return project;
}

/** Runs an action that starts a download, saves the file and returns its path. */
async function download(page: Page, act: () => Promise<void>): Promise<string> {
  const [started] = await Promise.all([page.waitForEvent("download"), act()]);
  const path = join(directory, crypto.randomUUID());
  await started.saveAs(path);
  return path;
}

test("by keyboard alone, a user can start an export, follow the job and download the complete file", async () => {
  const member = await dashboard.member();
  const project = await makeProject(member, "Checkout Service", 3);
  await using _runner = dashboard.startRunner();
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    await page.getByRole("link", { name: "Start the first one" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.locator("input[value=ndjson]:focus").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Start export" }).focus();
    await page.keyboard.press("Enter");
    const job = page.locator(".job");
    await job.getByText("Ready", { exact: true }).waitFor();
    await page
      .getByRole("status")
      .filter({ hasText: /^Export #1: Ready$/ })
      .waitFor();
    expect(await page.title()).toBe("● Ready · Data exports · ulr");
    // biome-ignore lint/performance/useDomNodeTextContent: hidden text does not count
    const words = await job.innerText();
    expect(words).toMatch(/CSV · as of .+ · requested by you/);
    expect(words).toContain("With deleted issues; without resolved issues");
    expect(words).toMatch(/Download ZIP \(\d/);
    expect(words).toContain("1 project, 3 rows. Expires in 3 days");
    expect(await job.locator("[data-part=expires]").getAttribute("title")).toMatch(/20\d\d/);
    // The focus is still on the job, and its download link is next in the tab order.
    await page.keyboard.press("Tab");
    const path = await download(page, () => page.keyboard.press("Enter"));
    const names = await testZip(path);
    expect(names).toContain(`Checkout-Service__${project.id.slice(0, 8)}/issues.csv`);
    expect(names.at(-1)).toBe("manifest.json");
  });
});

test("canceling a queued export by keyboard moves the focus to the canceled export", async () => {
  const member = await dashboard.member();
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    await page.getByRole("button", { name: "Start export" }).click();
    await page.getByText("Waiting in queue.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Canceled before its build began.").waitFor();
    await page.locator(".job:focus").waitFor();
    expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
  });
  const [job] = await dashboard.db
    .sql`select status, error_code from export_jobs where org_id = ${member.org.id}`;
  expect(job).toEqual({ status: "failed", errorCode: "CANCELED" });
});

test("a running build is canceled after confirmation", async () => {
  const member = await dashboard.member();
  const startedAt = new Date().toISOString();
  const id = await dashboard.job(member, { status: "running", attempt: 1, startedAt });
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    const button = page.getByRole("button", { name: "Cancel export #1" });
    const questions: string[] = [];
    page.once("dialog", async (dialog) => {
      questions.push(dialog.message());
      await dialog.dismiss();
    });
    await button.click();
    expect(questions).toEqual(["Stop building export #1?"]);
    page.once("dialog", (dialog) => dialog.accept());
    await button.click();
    await page.getByText("Canceled after its build had begun.").waitFor();
  });
  const [job] = await dashboard.db.sql`select status, error_code from export_jobs where id = ${id}`;
  expect(job).toEqual({ status: "failed", errorCode: "CANCELED" });
});

test("the page explains API errors for a future cutoff, an active job and the hourly limit", async () => {
  const member = await dashboard.member();
  const start = async (page: Page) => page.getByRole("button", { name: "Start export" }).click();
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    await page.getByLabel("As of").fill("2999-01-01T10:00:00");
    await start(page);
    await page.getByRole("alert").filter({ hasText: "must not be in the future" }).waitFor();
    await page.locator("#as-of:focus").waitFor();
    await page.getByLabel("As of").fill("2026-02-03T10:20:30");
    await start(page);
    await page.getByText("Waiting in queue.").waitFor();
    await page.getByLabel("As of").fill("");
    await start(page);
    await page.locator(".job.highlighted", { hasText: "already running" }).waitFor();
    expect(await page.locator(".job").count()).toBe(1);
    for (const state of ["first", "second"]) {
      // Only started builds count toward the hourly limit.
      await waitFor(async () => {
        const { count } = await dashboard.db.sql`
          update export_jobs set started_at = now() where org_id = ${member.org.id} and status = 'queued'`;
        return count;
      });
      await page.getByRole("button", { name: "Cancel" }).click();
      await page
        .locator(".job [data-status=canceled]")
        .nth(state === "first" ? 0 : 1)
        .waitFor();
      // The message and the highlight disappear when the job ends.
      expect(await page.getByText("already running").count()).toBe(0);
      expect(await page.locator(".job.highlighted").count()).toBe(0);
      await start(page);
    }
    await page
      .getByRole("alert")
      .filter({ hasText: /used up its 2 exports per hour/ })
      .waitFor();
  });
  const [first] = await dashboard.db.sql<{ asOf: string }[]>`
    select as_of from export_jobs where org_id = ${member.org.id} order by created_at limit 1`;
  // The browser and this machine use the same time zone.
  expect(first?.asOf).toBe(new Date("2026-02-03T10:20:30").toISOString());
});

test("the page stops offering an export file once it expires, even before the sweep deletes the file", async () => {
  const member = await dashboard.member();
  const readyAt = new Date(Date.now() - 3_600_000).toISOString();
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  await dashboard.job(member, {
    status: "ready",
    attempt: 1,
    startedAt: readyAt,
    readyAt,
    finishedAt: readyAt,
    expiresAt,
    artifactKey: "k",
    artifactFileName: "f.zip",
    artifactBytes: 1,
    artifactSha256: "a".repeat(64),
  });
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    await page.clock.install();
    await page.reload();
    const download = page.getByRole("link", { name: /^Download ZIP/ });
    await download.waitFor();
    await dashboard.db
      .sql`update export_jobs set expires_at = now() - interval '1 second' where org_id = ${member.org.id}`;
    await page.clock.runFor(31_000);
    await page.getByText("The file has expired.").waitFor();
    expect(await page.locator(".badge").textContent()).toBe("Expired");
    expect(await download.count()).toBe(0);
  });
});

test("live progress updates pause in a hidden tab and catch up when the tab is shown again", async () => {
  const member = await dashboard.member();
  const row = { status: "running", attempt: 2, projectsTotal: 4, projectsDone: 1, rowsWritten: 12_000 };
  const id = await dashboard.job(member, {
    ...row,
    startedAt: new Date().toISOString(),
    bytesWritten: 2_500_000,
  });
  let questions = 0;
  await dashboard.visit({ path: exportsOf(member), as: member, locale: "en-GB" }, async (page) => {
    page.on("request", (request) => {
      if (request.url().includes("/exports/jobs?")) questions += 1;
    });
    await page.getByText("1 of 4 projects · 12,000 rows · 2.5 MB · attempt 2 of 3").waitFor();
    await dashboard.db.sql`update export_jobs set projects_done = 3 where id = ${id}`;
    await page.getByText("3 of 4 projects").waitFor();
    expect(await page.getByRole("progressbar", { name: "Projects written" }).getAttribute("value")).toBe("3");
    // Progress is not announced to screen readers.
    expect(await page.getByRole("status").textContent()).toBe("");
    await page.clock.install();
    await setHidden(page, true);
    await page.clock.runFor(5000);
    questions = 0;
    await dashboard.db.sql`
      update export_jobs
      set status = 'failed', error_code = 'BUILD_TIMEOUT', error_message = 'Too slow', finished_at = now()
      where id = ${id}`;
    await page.clock.runFor(120_000);
    expect(questions).toBe(0);
    await setHidden(page, false);
    await page.getByText("The build exceeded its time limit").waitFor();
    await page.getByText("BUILD_TIMEOUT").waitFor();
  });
});

async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event("visibilitychange"))`);
}

test("an export started elsewhere appears without a reload", async () => {
  const member = await dashboard.member();
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    await page.clock.install();
    await page.reload();
    await page.getByText("No exports yet").waitFor();
    await dashboard.job(member);
    await page.clock.runFor(31_000);
    await page.locator(".job").waitFor();
  });
});

test('the "Show older" link adds the older exports, newest first', async () => {
  const member = await dashboard.member();
  for (let day = 10; day < 25; day += 1) {
    const at = `2026-01-${day}T10:00:00.000Z`;
    const failed = {
      status: "failed",
      errorCode: "CANCELED",
      errorMessage: "-",
      finishedAt: at,
      format: "csv",
    };
    await dashboard.job(member, { ...failed, asOf: at, createdAt: at });
  }
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    await page.getByRole("link", { name: "Show older" }).click();
    await page.locator(".job").nth(14).waitFor();
    await page.locator(".job:nth-child(11):focus").waitFor();
    expect(await page.getByRole("link", { name: "Show older" }).count()).toBe(0);
    const times = await page.locator(".job h3 time").evaluateAll((all) => all.map((time) => time.dateTime));
    expect(times).toEqual(times.toSorted().reverse());
  });
});

test("users see only their own organizations, and cannot tell whether another organization's export exists", async () => {
  const member = await dashboard.member();
  const stranger = await dashboard.member();
  const second = await dashboard.make.org();
  await dashboard.make.member({ orgId: second.id, userId: member.user.id, role: "admin" });
  await makeProject(stranger, "Secret Project");
  const theirs = await dashboard.job(stranger);
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    const shown: (string | null)[] = [];
    for (const id of [theirs, crypto.randomUUID(), "no id", "..", ""]) {
      await page.goto(`/dashboard/exports?job=${encodeURIComponent(id)}`);
      await page.getByText("This export does not exist").waitFor();
      shown.push(await page.locator("main > .problem").textContent());
    }
    expect(new Set(shown).size).toBe(1);
    await page.goto(exportsOf(stranger));
    await page.getByText("The organization in this address does not exist").waitFor();
    expect(await page.content()).not.toMatch(/Secret Project/);
    await page.goto(exportsOf(member));
    await page.getByRole("combobox", { name: "Organization" }).selectOption(second.slug);
    await page.getByText(`every project of ${second.name}`).waitFor();
    expect(page.url()).toEndWith("/dashboard/exports");
    await page.goto("/models");
    expect(await page.getByRole("combobox", { name: "Organization" }).inputValue()).toBe(second.slug);
  });
});

test("the header of every page switches the organization, by mouse and by keyboard", async () => {
  const member = await dashboard.member();
  const second = await dashboard.member();
  await dashboard.make.member({ orgId: second.org.id, userId: member.user.id });
  const choice = (page: Page) => page.getByRole("banner").getByRole("combobox", { name: "Organization" });
  const button = (page: Page) => page.getByRole("button", { name: "Switch" });
  for (const path of ["/models", "/settings/keys", "/dashboard/exports"]) {
    await dashboard.visit({ path: `${path}?org=${member.org.slug}`, as: member }, async (page) => {
      expect([path, await button(page).isVisible()]).toEqual([path, false]);
      await choice(page).selectOption(second.org.slug);
      await page
        .getByRole("banner")
        .getByRole("link", { name: "Organization" })
        .and(page.locator(`[href="/orgs/${second.org.slug}"]`))
        .waitFor();
      expect(page.url()).toEndWith(path);
      await choice(page).focus();
      // A closed select changes its value on each key press.
      await page.keyboard.press("Home");
      await page.keyboard.press("End");
      await page.keyboard.press("Home");
      const [chosen] = await Promise.all([choice(page).inputValue(), button(page).waitFor()]);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.locator(`header [href="/orgs/${chosen}"]`).waitFor();
      expect(page.url()).toEndWith(path);
    });
  }
  const options = { path: "/models", as: member, javaScriptEnabled: false };
  await dashboard.visit(options, (page) => button(page).waitFor());
});

test('an export shows its requester as "you", a username, or the id of a former member', async () => {
  const member = await dashboard.member();
  const colleague = await dashboard.member({ org: member.org });
  const former = await dashboard.member({ org: member.org });
  const done = { status: "failed", errorCode: "BUILD_FAILED", errorMessage: "-", finishedAt: "2026-01-10" };
  for (const caller of [member, colleague, colleague, former]) await dashboard.job(caller, done);
  await dashboard.db.sql`delete from organization_members where user_id = ${former.user.id}`;
  const formerly = `user ${former.user.id.slice(0, 8)}`;
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    await page.getByText(`requested by ${formerly}`).waitFor();
    const shown = await page.locator(".job [data-part=who]").allInnerTexts();
    const { username } = colleague.user;
    expect(shown.toSorted()).toEqual(["you", username, username, formerly].toSorted());
  });
});

test("a viewer cannot start exports, request bundles or estimate sizes, but can download datasets", async () => {
  const owner = await dashboard.member({ role: "owner" });
  const viewer = await dashboard.member({ role: "viewer", org: owner.org });
  await makeProject(owner, "Search");
  const id = await dashboard.job(owner);
  await dashboard.visit({ path: `/dashboard/exports?job=${id}`, as: viewer }, async (page) => {
    await page
      .getByText("You need the publisher role to export this organization. Your role: viewer.")
      .waitFor();
    expect(await page.getByRole("button", { name: "Start export" }).count()).toBe(0);
    // Any member may download the finished file.
    await page.getByRole("link", { name: "download its file" }).click();
    await page.getByRole("alert").filter({ hasText: "This export has no file" }).waitFor();
    await page.getByText("Search").click();
    await page.getByText("Bundles and size estimates require the publisher role or above.").waitFor();
    const link = page.getByRole("link", { name: "Issues of Search as NDJSON" });
    const path = await download(page, () => link.click());
    expect((await Bun.file(path).text()).trim().split("\n")).toHaveLength(1);
  });
});

test("an organization on the free tier is told that exports require a paid subscription", async () => {
  const member = await dashboard.member({ tier: "free" });
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    await page.getByText("Exports require a paid subscription").waitFor();
    await page.getByText("Downloads require a paid subscription").waitFor();
    expect(await page.getByRole("button", { name: "Start export" }).count()).toBe(0);
  });
});

test("projects can be filtered, estimated and downloaded, and a project too large to download is reported", async () => {
  const member = await dashboard.member();
  await makeProject(member, "Small <b>one</b>", 2);
  await makeProject(member, "Large", 9);
  for (let count = 0; count < 8; count += 1) await makeProject(member, `Other ${count}`, 0);
  await dashboard.visit({ path: exportsOf(member), as: member }, async (page) => {
    await page.getByLabel("Filter projects").fill("small");
    await page.getByText("1 of 10 projects").waitFor();
    expect(await page.locator("#projects > li:visible").allInnerTexts()).toEqual(["Small <b>one</b>"]);
    await page.getByText("Small <b>one</b>").click();
    await page.getByText(/2 rows, about .+ before compression/).waitFor();
    const bundle = page.getByRole("link", { name: "Bundle of Small <b>one</b> as CSV" });
    const path = await download(page, () => bundle.click());
    expect(await testZip(path)).toContain("analysis-records.csv");
    await page.getByLabel("Filter projects").fill("large");
    await page.getByText("Large", { exact: true }).click();
    await page.locator("[data-part=too-large]:visible").waitFor();
    expect(await page.getByRole("link", { name: "Bundle of Large as CSV" }).count()).toBe(0);
    await page.getByRole("link", { name: "Issues of Large as CSV" }).click();
    await page.getByRole("alert").filter({ hasText: "too large for an immediate download" }).waitFor();
  });
});

test("the page reports that the list of exports failed to load, and retries until it loads", async () => {
  const member = await dashboard.member();
  await dashboard.job(member);
  await dashboard.visit({ path: "/swagger" }, async (page) => {
    await page.addInitScript(`{
      const load = fetch;
      let count = 0;
      globalThis.fetch = async (...request) => ++count > 1 ? load(...request)
        : new Response(new ReadableStream({ start: (body) => body.error(new Error("cut off")) }));
    }`);
    await page.context().addCookies([{ name: "ulr_session", value: member.token, url: dashboard.api.url }]);
    await page.goto(exportsOf(member));
    const problem = page.getByText("The list cannot be updated now. It is tried again.");
    await problem.waitFor();
    await problem.waitFor({ state: "detached" });
  });
});

test("without JavaScript, a user can start, cancel and restart an export, and download files", async () => {
  const member = await dashboard.member();
  const project = await makeProject(member, "Plain", 2);
  const options = { path: exportsOf(member), as: member, javaScriptEnabled: false };
  await dashboard.visit(options, async (page) => {
    await page.getByRole("button", { name: "Estimate size" }).click();
    await page.getByText(/1 project, 2 rows, about .+ before compression/).waitFor();
    await page.getByLabel("CSV").check();
    await page.getByRole("button", { name: "Start export" }).click();
    await page.getByText("Waiting in queue.").waitFor();
    await page.getByRole("button", { name: "Cancel export #1" }).click();
    await page.getByText("Canceled before its build began.").waitFor();
    await page.getByRole("button", { name: "Start again as export #1" }).click();
    await page.locator(".job").nth(1).waitFor();
    await page.getByText("Plain", { exact: true }).click();
    await page.getByRole("link", { name: "Show downloads of Plain" }).click();
    await page.getByRole("heading", { name: "Plain" }).waitFor();
    const link = page.getByRole("link", { name: "Issues of Plain as NDJSON" });
    const whole = await download(page, () => link.click());
    expect((await Bun.file(whole).text()).trim().split("\n")).toHaveLength(2);
    await page.locator("summary", { hasText: /^Issues$/ }).click();
    const filters = page.getByRole("form", { name: "Issues with filters" });
    await filters.getByLabel("completed").check();
    const none = await download(page, () => filters.getByRole("button").click());
    expect(await Bun.file(none).text()).toBe("");
    expect(new URL(page.url()).pathname).toBe(`/dashboard/exports/projects/${project.id}`);
  });
});
