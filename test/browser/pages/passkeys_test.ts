/** Passkeys in a real browser with Chromium's virtual authenticator, at the default PUBLIC_URL. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CDPSession, Page } from "playwright-core";
import { chooseFreePort } from "../../../deploy/local/machine.ts";
import { type Account, makeAccount } from "../../helpers/accounts/accounts.ts";
import { codeAt } from "../../helpers/accounts/totp_code.ts";
import { openVisit, type Visit } from "../browser.ts";
import { type Dashboard, openDashboard } from "../dashboard.ts";
import { listBarriers, overflowsSideways } from "../page_audit.ts";

const SETTINGS = "/settings/second-factor";

let dashboard: Dashboard;
let origin: string;
beforeAll(async () => {
  const port = chooseFreePort("127.0.0.1");
  dashboard = await openDashboard({ PORT: String(port), RATE_LIMIT_LOGIN_PER_MINUTE: "200" });
  origin = `http://localhost:${port}`;
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** A virtual authenticator that acts as a laptop's fingerprint reader. */
class Authenticator {
  readonly #cdp: CDPSession;
  #id = "";

  constructor(cdp: CDPSession) {
    this.#cdp = cdp;
  }

  async connect(): Promise<void> {
    const { authenticatorId } = await this.#cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        ...{ protocol: "ctap2", transport: "internal" },
        ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      },
    });
    this.#id = authenticatorId;
  }

  /** Replaces the authenticator with an empty one, as on another laptop. */
  async replace(): Promise<void> {
    await this.#cdp.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId: this.#id });
    await this.connect();
  }

  /** Sets whether the authenticator recognizes its user. */
  async recognize(isUserVerified: boolean): Promise<void> {
    await this.#cdp.send("WebAuthn.setUserVerified", { authenticatorId: this.#id, isUserVerified });
  }
}

/**
 * A viewport as narrow as a phone's, in dark colors. `every_page_test.ts` checks the same pages in light colors on a desktop.
 */
const NARROW = {
  colorScheme: "dark",
  reducedMotion: "reduce",
  viewport: { width: 320, height: 900 },
} as const;

async function openLaptop(at = origin): Promise<Visit & { authenticator: Authenticator }> {
  const visit = await openVisit(dashboard.browser, { origin: at, ...NARROW });
  const cdp = await visit.page.context().newCDPSession(visit.page);
  await cdp.send("WebAuthn.enable");
  visit.page.setDefaultTimeout(20_000);
  const authenticator = new Authenticator(cdp);
  await authenticator.connect();
  return Object.assign(visit, { authenticator });
}

/** Signs in with the password. The next page is `path`, or the second step if the account has a second factor. */
async function enterPassword(page: Page, account: Account, path = SETTINGS): Promise<void> {
  await page.goto(`/dashboard/sign-in?next=${encodeURIComponent(path)}`);
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Adds the account's first passkey on the settings page, and returns the recovery codes. */
async function addPasskey(page: Page, account: Account): Promise<string[]> {
  const form = page.getByRole("region", { name: "Add a passkey" });
  await form.getByLabel("Name").fill("Laptop");
  await form.getByLabel("Your password").fill(account.password);
  await form.getByRole("button").click();
  const codes = page.getByRole("region", { name: "Recovery codes" });
  await codes.getByText("They are not shown again").waitFor();
  return ((await codes.locator("pre").textContent()) ?? "").split("\n");
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}

async function expectProblem(page: Page, text: string): Promise<void> {
  await page.getByRole("alert").filter({ hasText: text }).waitFor();
}

/**
 * Checks layout and accessibility, but without `auditControls`, because detaching its CDP session would remove the virtual
 * authenticator.
 */
async function expectReadable({ page }: Visit): Promise<void> {
  expect([await overflowsSideways(page), await listBarriers(page)]).toEqual([false, []]);
}

test("a user adds a passkey, signs in with it, and removes it", async () => {
  const account = await makeAccount(dashboard);
  await using laptop = await openLaptop();
  const { page } = laptop;
  await enterPassword(page, account);
  await page.getByText("You have no second factor.").waitFor();
  expect(await page.getByText("Passkeys need JavaScript").isVisible()).toBe(false);
  const codes = await addPasskey(page, account);
  expect(codes).toHaveLength(10);
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toBe("recovery-codes.txt");
  expect(await Bun.file(await (await download).path()).text()).toBe(`${codes.join("\n")}\n`);
  await expectReadable(laptop);
  await page.getByRole("link", { name: "Done" }).click();
  await page.getByRole("link", { name: "Remove Laptop" }).waitFor();
  await expectReadable(laptop);
  await signOut(page);

  await enterPassword(page, account);
  await page.getByRole("heading", { name: "Second factor" }).waitFor();
  await expectReadable(laptop);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.waitForURL(`**${SETTINGS}`);
  await page.getByRole("link", { name: "Remove Laptop" }).waitFor();

  await dashboard.db
    .sql`update sessions set factor_at = now() - interval '1 hour' where user_id = ${account.id}`;
  await page.reload();
  await expectReadable(laptop);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByRole("link", { name: "Remove Laptop" }).click();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByText("Second factor removed.").waitFor();
  await page.getByText("You have no second factor.").waitFor();
  await signOut(page);
  await enterPassword(page, account);
  await page.getByText("You have no second factor.").waitFor();
  expect(laptop.faults).toEqual([]);
});

test("the page shows errors from the passkey device, and the user can retry", async () => {
  const account = await makeAccount(dashboard);
  await using laptop = await openLaptop();
  const { page, authenticator } = laptop;
  await enterPassword(page, account);
  const form = page.getByRole("region", { name: "Add a passkey" });
  await form.getByLabel("Your password").fill("not the password");
  await form.getByRole("button").click();
  await expectProblem(page, "The password is wrong.");
  await authenticator.recognize(false);
  await form.getByLabel("Your password").fill(account.password);
  await form.getByRole("button").click();
  await expectProblem(page, "No passkey was added: you canceled, or the device did not answer in time.");
  await authenticator.recognize(true);
  await addPasskey(page, account);
  await page.getByRole("link", { name: "Done" }).click();
  await form.getByRole("button").click();
  await expectProblem(page, "This device already has a passkey of your account.");
  await signOut(page);

  await enterPassword(page, account);
  const use = page.getByRole("button", { name: "Use a passkey" });
  await authenticator.recognize(false);
  await use.click();
  await expectProblem(page, "No passkey was used: you canceled, it took too long,");
  await expectReadable(laptop);
  await authenticator.recognize(true);
  await use.click();
  await page.waitForURL(`**${SETTINGS}`);
  await signOut(page);

  await authenticator.replace();
  await enterPassword(page, account);
  await use.click();
  await expectProblem(page, "or this device has none of your passkeys. Try again, or use a code.");
  await page.getByRole("link", { name: "Back to sign in" }).click();
  await page.waitForURL(`**/dashboard/sign-in?next=${encodeURIComponent(SETTINGS)}`);
  expect(laptop.faults).toEqual([]);
});

test("under another host name, the page names the host on which passkeys work", async () => {
  const account = await makeAccount(dashboard);
  await using laptop = await openLaptop(dashboard.api.url);
  const { page } = laptop;
  await enterPassword(page, account);
  const form = page.getByRole("region", { name: "Add a passkey" });
  await form.getByLabel("Your password").fill(account.password);
  await form.getByRole("button").click();
  await expectProblem(page, "Passkeys belong to localhost. Open this page there.");
  expect(laptop.faults).toEqual([]);
});

test("authenticator codes and recovery codes work without JavaScript", async () => {
  const account = await makeAccount(dashboard);
  const options = { origin, javaScriptEnabled: false };
  await using visit = await openVisit(dashboard.browser, options);
  const { page } = visit;
  await enterPassword(page, account);
  await page.getByText("Passkeys need JavaScript, https and a current browser.").waitFor();
  const form = page.getByRole("region", { name: "Add an authenticator app" });
  await form.getByLabel("Your password").fill(account.password);
  await form.getByRole("button", { name: "Continue" }).click();
  const secret = (await form.locator("code").textContent()) ?? "";
  await form.getByLabel("Code from the app").fill(codeAt(secret, Date.now()));
  await form.getByRole("button", { name: "Add app" }).click();
  const codes = page.getByRole("region", { name: "Recovery codes" }).locator("pre");
  const [first = ""] = ((await codes.textContent()) ?? "").split("\n");
  await signOut(page);

  const code = page.getByLabel("Code from your authenticator app, or a recovery code");
  await enterPassword(page, account);
  expect(await page.getByRole("button", { name: "Use a passkey" }).isVisible()).toBe(false);
  await code.fill(first.replace(/^.{4}/, "0000"));
  await page.keyboard.press("Enter");
  await expectProblem(page, "The second factor is wrong, or was used before.");
  await code.fill(first);
  await page.keyboard.press("Enter");
  await page.getByText("You have 9 unused recovery codes.").waitFor();
  await signOut(page);

  await enterPassword(page, account);
  // The code of the app's next interval. A code works only once, and the server accepts one interval of clock skew.
  await code.fill(codeAt(secret, Date.now() + 30_000));
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Remove Phone" }).waitFor();
});

test("an organization that requires a second factor tells a member to add a passkey, then admits the member", async () => {
  const account = await makeAccount(dashboard);
  const org = await dashboard.make.org();
  await dashboard.make.member({ orgId: org.id, userId: account.id, role: "publisher" });
  await dashboard.db.sql`update organizations set require_second_factor = true where id = ${org.id}`;
  await using laptop = await openLaptop();
  const { page } = laptop;
  const path = `/orgs/${org.slug}/usage`;
  await enterPassword(page, account, path);
  await page.getByRole("heading", { name: "Not allowed" }).waitFor();
  await page.getByText(`"${org.slug}" requires a second factor. Add one to your account,`).waitFor();
  await expectReadable(laptop);
  await page.getByRole("link", { name: "Your second factors" }).click();
  await addPasskey(page, account);
  await page.goto(path);
  expect([page.url(), await page.title()]).toEqual([`${origin}${path}`, expect.stringContaining("Usage")]);
  expect(laptop.faults).toEqual([]);
});
