/** Inviting, joining and removing a member in a real browser, with a real mail server and a real job runner. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Request } from "playwright-core";
import { newestMail } from "../helpers/accounts/account_mail.ts";
import { makeAccount } from "../helpers/accounts/accounts.ts";
import { type MailServer, openMailServer } from "../helpers/network/mail_server.ts";
import { spawnRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { openVisit } from "./browser.ts";
import { type Dashboard, type Member, openDashboard } from "./dashboard.ts";

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

/** Waits until an address has received this many mails, and returns the link in the last one. */
async function linkMailedTo(email: string, count: number): Promise<string> {
  const received = await waitFor(() => {
    const mails = server.received.filter(({ to }) => String(to) === email);
    return mails.length >= count ? mails : null;
  });
  return (await newestMail({ received })).link ?? "";
}

/** Sends an invitation on the members page by keyboard, and returns the link in the mail. */
async function invite(owner: Member, email: string, javaScriptEnabled: boolean): Promise<string> {
  const path = `/orgs/${owner.org.slug}/members`;
  await dashboard.visit({ path, as: owner, javaScriptEnabled }, async (page) => {
    await page.getByLabel("Email").focus();
    await page.keyboard.type(email);
    await page.keyboard.press("Tab");
    await page.keyboard.type("publisher");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Invitation created.").waitFor();
    await page.getByRole("rowheader", { name: email }).waitFor();
  });
  return linkMailedTo(email, 1);
}

for (const javaScriptEnabled of [true, false]) {
  test(`an invited user joins, opens the list of projects, and is removed, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async () => {
    const owner = await dashboard.member({ role: "owner" });
    const ann = await makeAccount(dashboard);
    const link = await invite(owner, ann.email, javaScriptEnabled);
    await using visit = await openVisit(dashboard.browser, { origin: dashboard.api.url, javaScriptEnabled });
    const { page } = visit;
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));

    await page.goto(link);
    await page.getByRole("heading", { name: "You are invited" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("Email").fill(ann.email);
    await page.getByLabel("Password").fill(ann.password);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: `Join ${owner.org.name}` }).click();
    await page.getByText("You are now a member.").waitFor();
    await page.getByRole("link", { name: "Projects" }).click();
    await page.getByRole("heading", { name: "Projects" }).waitFor();

    const path = `/orgs/${owner.org.slug}/members`;
    await dashboard.visit({ path, as: owner, javaScriptEnabled }, async (ownersPage) => {
      await ownersPage.getByRole("link", { name: `Change ${ann.username}` }).click();
      await ownersPage.getByRole("link", { name: "Remove member" }).click();
      await ownersPage.getByRole("button", { name: "Remove member" }).click();
      await ownersPage.getByText("Member removed.").waitFor();
    });
    expect((await page.goto(path))?.status()).toBe(403);
    expect((await page.goto("/settings/profile"))?.status()).toBe(200);
    await page.goto(link);
    await page.getByRole("heading", { name: "This invitation no longer works" }).waitFor();
    // Proxies may log the Referer header, so it must not contain the token.
    const headers = await Promise.all(requests.map((request) => request.allHeaders()));
    expect(headers.filter(({ referer = "" }) => referer !== "").length).toBeGreaterThan(1);
    expect(headers.filter(({ referer = "" }) => referer.includes("token"))).toEqual([]);
    expect(visit.faults).toEqual([]);
  });
}

test("a user who is signed in to another account signs out and returns to the invitation", async () => {
  const owner = await dashboard.member({ role: "owner" });
  const ann = await makeAccount(dashboard);
  const link = await invite(owner, ann.email, true);
  const other = await dashboard.member();
  await dashboard.visit({ path: link, as: other }, async (page) => {
    await page.getByText(`It is for ${ann.email}.`).waitFor();
    await page.getByRole("button", { name: "Sign out and continue" }).click();
    await page.getByRole("heading", { name: "You are invited" }).waitFor();
  });
});

test("an invited person without an account signs up, returns to the invitation through the mail, and joins", async () => {
  const owner = await dashboard.member({ role: "owner" });
  const name = `guest-${crypto.randomUUID().slice(0, 8)}`;
  const [email, password] = [`${name}@example.com`, "seven quiet lamps at noon"];
  const link = await invite(owner, email, false);
  await dashboard.visit({ path: link, javaScriptEnabled: false }, async (page) => {
    await page.getByRole("link", { name: "Sign up" }).click();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Username").fill(name);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Send link" }).click();
    await page.getByRole("heading", { name: "Check your email" }).waitFor();
    await page.goto(await linkMailedTo(email, 2));
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: `Join ${owner.org.name}` }).click();
    await page.getByText("You are now a member.").waitFor();
  });
});
