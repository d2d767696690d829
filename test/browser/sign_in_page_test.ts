import { afterAll, beforeAll, expect, test } from "bun:test";
import { insertLoginAttempt } from "../../sql/accounts/login_attempts.ts";
import { makeAccount } from "../helpers/accounts/accounts.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type Dashboard, openDashboard } from "./dashboard.ts";

const LOGIN_LIMIT = 30;

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard({ RATE_LIMIT_LOGIN_PER_MINUTE: String(LOGIN_LIMIT) });
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Creates a user with a password and an organization. */
async function makeSignee() {
  const account = await makeAccount(dashboard);
  const org = await dashboard.make.org();
  await dashboard.make.member({ orgId: org.id, userId: account.id, role: "publisher" });
  return { account, org };
}

test("a wrong password is announced, and the user can correct it using only the keyboard", async () => {
  const { account, org } = await makeSignee();
  await dashboard.visit({ path: "/dashboard" }, async (page) => {
    await page.waitForURL("**/dashboard/sign-in?next=%2Fdashboard%2Fexports");
    await page.locator("#email:focus").waitFor();
    expect(await page.getByText("Your session has expired.").isVisible()).toBe(false);
    await page.keyboard.type(account.email);
    await page.keyboard.press("Tab");
    await page.keyboard.type("not the password");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "Wrong email or password." }).waitFor();
    // The password field is empty and has the focus.
    expect(await page.locator("#password:focus").inputValue()).toBe("");
    expect(await page.getByLabel("Password").getAttribute("aria-invalid")).toBe("true");
    await page.keyboard.type(account.password);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/dashboard/exports");
    await page.getByRole("heading", { name: "Start an export" }).waitFor();
    expect(await page.getByRole("combobox", { name: "Organization" }).inputValue()).toBe(org.slug);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: "ulr_session", httpOnly: true, sameSite: "Lax" });
    // Scripts can read no secret from cookies or storage.
    expect(
      await page.evaluate("document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })"),
    ).toBe("{}");
  });
});

test("the sign-in fields have autocomplete values that password managers recognize", async () => {
  await dashboard.visit({ path: "/dashboard/sign-in" }, async (page) => {
    const fields = await page
      .locator("input")
      .evaluateAll((inputs) => inputs.map((input) => input.outerHTML));
    expect(fields).toEqual([
      expect.stringMatching(/type="email" autocomplete="username"/),
      expect.stringMatching(/type="password" autocomplete="current-password"/),
    ]);
  });
});

test("the sign-in page immediately redirects a signed-in user, and never to another site", async () => {
  const member = await dashboard.member();
  const toPath = (next: string) => `/dashboard/sign-in?next=${encodeURIComponent(next)}`;
  const path = "/dashboard/exports";
  await dashboard.visit({ path: toPath(path), as: member }, async (page) => {
    await page.waitForURL(`**${path}`);
    await page.goto(toPath("//evil.example/"));
    await page.waitForURL("**/dashboard/exports");
  });
});

test("ending the current session in the settings clears sessionStorage and cookies", async () => {
  const member = await dashboard.member();
  const [own] = await dashboard.db.sql<
    [{ id: string }]
  >`select id from sessions where user_id = ${member.user.id}`;
  await dashboard.visit({ path: `/settings/sessions/${own.id}/end`, as: member }, async (page) => {
    await page.evaluate(`sessionStorage.setItem("export-form", "[]")`);
    await page.getByRole("button", { name: "End session" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    expect(await page.context().cookies()).toEqual([]);
  });
});

test("signing in and out works without JavaScript", async () => {
  const { account } = await makeSignee();
  const options = { path: "/dashboard/sign-in?next=%2F", javaScriptEnabled: false };
  await dashboard.visit(options, async (page) => {
    await page.getByLabel("Email").fill(account.email);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").filter({ hasText: "Wrong email or password." }).waitFor();
    await page.getByLabel("Password").fill(account.password);
    await page.keyboard.press("Enter");
    await page.getByText(account.username).first().waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });
});

test("after sign-in, the link in an export mail opens the export in the right organization", async () => {
  const { account, org } = await makeSignee();
  const first = await dashboard.make.org({ slug: `aaa-${account.username}` });
  await dashboard.make.member({ orgId: first.id, userId: account.id, role: "publisher" });
  const done = {
    status: "failed",
    errorCode: "BUILD_FAILED",
    errorMessage: "It failed",
    finishedAt: new Date().toISOString(),
  };
  const id = await dashboard.job({ user: account, org, token: "" }, done);
  await dashboard.visit({ path: `/dashboard/exports?job=${id}` }, async (page) => {
    await page.getByLabel("Email").fill(account.email);
    await page.getByLabel("Password").fill(account.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`**/dashboard/exports?job=${id}`);
    await page.locator(".job.highlighted", { hasText: "BUILD_FAILED" }).waitFor();
    await page.locator(`#job-${id}:focus`).waitFor();
    expect(await page.getByRole("combobox", { name: "Organization" }).inputValue()).toBe(org.slug);
  });
});

test("after a session ends during use, signing in returns to the form with its values", async () => {
  const { account } = await makeSignee();
  const { id, token } = await dashboard.make.session({ userId: account.id });
  const path = "/dashboard/exports";
  await dashboard.visit({ path, as: { token } }, async (page) => {
    await page.getByText("No exports yet").waitFor();
    await page.getByLabel("CSV").check();
    await page.getByLabel("Resolved issues").uncheck();
    await dashboard.db.sql`update sessions set revoked_at = now() where id = ${id}`;
    const isOver = async () =>
      (await dashboard.api.request("/api/v1/auth/me", { key: token })).status === 401;
    await waitFor(isOver);
    await page.getByRole("button", { name: "Start export" }).click();
    await page.getByText("Your session has expired. Nothing was changed. Sign in to continue.").waitFor();
    await page.getByLabel("Email").fill(account.email);
    await page.getByLabel("Password").fill(account.password);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${path}`);
    await page.getByText("No exports yet").waitFor();
    expect(await page.getByLabel("CSV").isChecked()).toBe(true);
    expect(await page.getByLabel("Resolved issues").isChecked()).toBe(false);
    expect(await page.getByLabel("Deleted issues").isChecked()).toBe(false);
  });
});

test("too many sign-in attempts are rejected with a message that says how long to wait", async () => {
  const { account } = await makeSignee();
  const subject = { kind: "account", value: `127.0.0.0/24 ${account.email}` } as const;
  for (let count = 0; count < LOGIN_LIMIT; count += 1) {
    await insertLoginAttempt(dashboard.db.sql, { subject, limit: LOGIN_LIMIT });
  }
  await dashboard.visit({ path: "/dashboard/sign-in" }, async (page) => {
    await page.getByLabel("Email").fill(account.email);
    await page.getByLabel("Password").fill(account.password);
    await page.keyboard.press("Enter");
    await page
      .getByRole("alert")
      .filter({ hasText: /Too many attempts. Try again in \d+ seconds?\./ })
      .waitFor();
  });
});

test("signing out ends the session, and the Back button does not show its pages again", async () => {
  const member = await dashboard.member();
  await dashboard.visit({ path: "/dashboard/exports", as: member }, async (page) => {
    await page.getByText(member.user.username).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto("/dashboard/exports");
    await page.waitForURL("**/dashboard/sign-in?next=*");
    await page.goBack();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.getByText(member.user.username).count()).toBe(0);
  });
  const [session] = await dashboard.db.sql<{ revokedAt: string | null }[]>`
    select revoked_at from sessions where user_id = ${member.user.id}`;
  expect(session?.revokedAt).not.toBeNull();
});
