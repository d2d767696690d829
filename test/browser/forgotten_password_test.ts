/** A forgotten password in a real browser, with a real mail server and a real job runner. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Request } from "playwright-core";
import { newestMail } from "../helpers/accounts/account_mail.ts";
import { type Account, makeAccount } from "../helpers/accounts/accounts.ts";
import { type MailServer, openMailServer } from "../helpers/network/mail_server.ts";
import { spawnRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type Dashboard, openDashboard } from "./dashboard.ts";

const PASSWORD = "seven quiet lamps at noon";

let dashboard: Dashboard;
let server: MailServer;
let runner: AsyncDisposable;
beforeAll(async () => {
  dashboard = await openDashboard();
  server = await openMailServer();
  const { db, api } = dashboard;
  runner = spawnRunner({ DATABASE_URL: db.url, SMTP_URL: server.url, PUBLIC_URL: api.url });
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await dashboard[Symbol.asyncDispose]();
});

/** Requests a password reset, starting from the sign-in page, and returns the link in the mail. */
async function askForLink(account: Account, javaScriptEnabled: boolean): Promise<string> {
  const before = server.received.length;
  await dashboard.visit({ path: "/dashboard/sign-in", javaScriptEnabled }, async (page) => {
    await page.getByRole("link", { name: "Forgot your password?" }).click();
    await page.locator("#field-email:focus").waitFor();
    await page.keyboard.type(account.email);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Check your email" }).waitFor();
  });
  await waitFor(async () => server.received.length > before);
  return (await newestMail(server)).link ?? "";
}

for (const javaScriptEnabled of [true, false]) {
  test(`a user resets a forgotten password by keyboard, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async () => {
    const account = await makeAccount(dashboard);
    const path = await askForLink(account, javaScriptEnabled);
    await dashboard.visit({ path, javaScriptEnabled }, async (page) => {
      // The Referer header of these requests must not contain the token.
      const requests: Request[] = [];
      page.on("request", (request) => requests.push(request));
      await page.reload();
      await page.locator("#field-newPassword:focus").waitFor();
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press("Enter");
      await page.getByText("Your password has been changed.").waitFor();
      const headers = await Promise.all(requests.map((request) => request.allHeaders()));
      expect(headers.length).toBeGreaterThan(1);
      expect(headers.filter(({ referer = "" }) => referer.includes("token"))).toEqual([]);
      await page.keyboard.type(account.email);
      await page.keyboard.press("Tab");
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press("Enter");
      await page.getByText(account.username).first().waitFor();
    });
    // The link works only once.
    await dashboard.visit({ path, javaScriptEnabled }, async (page) => {
      await page.getByLabel("New password").fill("another long password");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "This link no longer works" }).waitFor();
      await page.getByRole("link", { name: "Request a new link" }).click();
      await page.waitForURL("**/forgot-password");
    });
  });
}
