/** Text that could not be saved is kept in the browser tab, and offered when its form is opened again. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Account, makeAccount } from "../../helpers/accounts/accounts.ts";
import { makeInvitation } from "../../helpers/accounts/organization.ts";
import { agentYaml } from "../../helpers/definitions/definitions.ts";
import type { OrgRow } from "../../helpers/postgres/factory.ts";
import { type Dashboard, openDashboard } from "../dashboard.ts";
import { listBarriers, overflowsSideways } from "../page_audit.ts";

const NEW = "/definitions/new";
const TYPED = agentYaml("kept", "1.0.0", { domain: "security" });

let dashboard: Dashboard;
let org: OrgRow;
let ann: Account;
let bob: Account;
beforeAll(async () => {
  dashboard = await openDashboard({ RATE_LIMIT_LOGIN_PER_MINUTE: "100" });
  org = await dashboard.make.org();
  [ann, bob] = await Promise.all([makePublisher(), makePublisher()]);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

async function makePublisher(): Promise<Account> {
  const account = await makeAccount(dashboard);
  await dashboard.make.member({ orgId: org.id, userId: account.id, role: "publisher" });
  return account;
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
}

async function signIn(page: Page, { email, password }: Account): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await press(page, "Sign in");
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

/** Opens `path`, by default the form for a new definition, and signs Ann in there. */
async function visitAsAnn(look: (page: Page) => Promise<void>, path = NEW): Promise<void> {
  await dashboard.visit({ path }, async (page) => {
    await signIn(page, ann);
    await page.getByLabel("YAML").waitFor();
    await look(page);
  });
}

/** Submits the text without a session cookie, and waits for the sign-in page. */
async function sendWithoutSession(page: Page, text = TYPED): Promise<void> {
  await page.getByLabel("YAML").fill(text);
  await page.context().clearCookies();
  await press(page, "Save draft");
  await page.getByText("Your session has expired.").waitFor();
}

const OFFER = "You have text that was not saved, typed at";

function offerOn(page: Page) {
  return page.getByRole("alert").filter({ hasText: OFFER });
}

/** Opens a form and returns whether it offers an unsaved text. Waits for the script that shows the offer. */
async function isOffered(page: Page, path = NEW): Promise<boolean> {
  await page.goto(path);
  await page.evaluate(`import("/dashboard/assets/unsaved_text.js")`);
  return offerOn(page).isVisible();
}

function storedLength(page: Page): Promise<number> {
  return page.evaluate(`JSON.parse(sessionStorage.getItem("unsaved-texts") ?? "[]").length`);
}

for (const [colorScheme, width] of [
  ["light", 1280],
  ["dark", 320],
] as const) {
  test(`after a new sign-in, unsaved text is offered and can be restored by keyboard: ${colorScheme}, ${width} px`, async () => {
    await visitAsAnn(async (page) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const template = await page.getByLabel("YAML").inputValue();
      await page.getByLabel("Type").selectOption("workflow");
      await sendWithoutSession(page);
      await signIn(page, ann);
      await offerOn(page).waitFor();
      expect(await offerOn(page).textContent()).toMatch(/typed at .*\d:\d\d/);
      expect(await page.getByLabel("YAML").inputValue()).toBe(template);
      expect(await overflowsSideways(page)).toBe(false);
      expect(await listBarriers(page)).toEqual([]);
      await page.getByRole("button", { name: "Restore" }).focus();
      await page.keyboard.press("Enter");
      expect(await page.locator("textarea:focus").inputValue()).toBe(TYPED);
      expect(await page.getByLabel("Type").inputValue()).toBe("workflow");
      expect(await page.locator(".line-numbers").textContent()).toEndWith(String(TYPED.split("\n").length));
      expect(await offerOn(page).isVisible()).toBe(false);
      // The text is kept until it is saved.
      page.on("dialog", (dialog) => dialog.accept());
      expect(await isOffered(page)).toBe(true);
    });
  });
}

test("the profile form says that nothing was changed, and offers the typed text after a new sign-in", async () => {
  await visitAsAnn(async (page) => {
    await page.goto("/settings/profile");
    await page.getByLabel("Bio").fill("Reviews code.\nAt night.");
    await page.getByLabel("Current password").fill("not kept");
    await page.context().clearCookies();
    await press(page, "Save profile");
    await page.getByText("Nothing was changed.").waitFor();
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("not kept");
    await signIn(page, ann);
    await press(page, "Restore");
    expect(await page.getByLabel("Bio").inputValue()).toBe("Reviews code.\nAt night.");
    await press(page, "Save profile");
    await page.getByText("Profile saved.").waitFor();
    expect([await isOffered(page, "/settings/profile"), await storedLength(page)]).toEqual([false, 0]);
  });
});

for (const [subject, text, button, result] of [
  ["text that the service rejected", "agent: [", "Save draft", /^\d+ errors?\./],
  ["text that was only checked", TYPED, "Check", /^No errors/],
] as const) {
  test(`leaving the page with ${subject} asks for confirmation, and the form offers the text on return`, async () => {
    await visitAsAnn(async (page) => {
      await page.getByLabel("YAML").fill(text);
      await press(page, button);
      await page.getByText(result).waitFor();
      const asked = page.waitForEvent("dialog");
      const left = page.goto("/models");
      await (await asked).accept();
      await left;
      expect(await isOffered(page)).toBe(true);
    });
  });
}

test("discarded text is not offered again", async () => {
  await visitAsAnn(async (page) => {
    await sendWithoutSession(page);
    await signIn(page, ann);
    await offerOn(page).waitFor();
    await press(page, "Discard");
    expect(await offerOn(page).isVisible()).toBe(false);
    expect(await page.getByLabel("YAML").inputValue()).not.toBe(TYPED);
    expect([await isOffered(page), await storedLength(page)]).toEqual([false, 0]);
  });
});

test("saving a draft deletes the stored text, even if the user goes on to publish", async () => {
  await visitAsAnn(async (page) => {
    for (const [name, button] of [
      ["saved", "Save draft"],
      ["published", "Save and publish…"],
    ] as const) {
      await page.goto(NEW);
      await page.getByLabel("YAML").fill(agentYaml(name));
      await press(page, button);
      await page.getByText("The draft is saved.").waitFor();
      await page.waitForLoadState();
      expect([button, await isOffered(page), await storedLength(page)]).toEqual([button, false, 0]);
    }
  });
});

test("unsaved text is offered to its author, but not to another user of the same browser", async () => {
  await visitAsAnn(async (page) => {
    await sendWithoutSession(page);
    await signIn(page, bob);
    expect(await isOffered(page)).toBe(false);
    await page.context().clearCookies();
    await page.goto(NEW);
    await signIn(page, ann);
    await offerOn(page).waitFor();
  });
});

test("signing out deletes the stored texts, even if the sign-out response is lost", async () => {
  await visitAsAnn(async (page) => {
    await sendWithoutSession(page);
    await signIn(page, ann);
    await offerOn(page).waitFor();
    await page.route("**/dashboard/sign-out", (route) => route.abort());
    await press(page, "Sign out");
    await page.waitForURL("chrome-error://**");
    expect([await isOffered(page), await storedLength(page)]).toEqual([false, 0]);
  });
});

test("signing out on an invitation page meant for another account deletes the stored texts", async () => {
  const { id: orgId } = await dashboard.make.org();
  await dashboard.make.member({ orgId, userId: bob.id, role: "owner" });
  const invitation = { orgId, email: "invited@example.com", invitedBy: bob.id };
  const { token } = await makeInvitation(dashboard, invitation);
  const path = `/invitation?token=${token}`;
  await visitAsAnn(async (page) => {
    await sendWithoutSession(page);
    await signIn(page, ann);
    await page.goto(path);
    await page.route("**/invitation*", (route) => route.abort());
    await press(page, "Sign out and continue");
    await page.waitForURL("chrome-error://**");
    expect([await isOffered(page), await storedLength(page)]).toEqual([false, 0]);
  });
});

test("unsaved text of a deleted draft is offered in the form for a new definition", async () => {
  const draft = `/definitions/agent/@${org.slug}/gone@1.0.0/edit`;
  await visitAsAnn(async (page) => {
    await page.getByLabel("YAML").fill(agentYaml("gone"));
    await press(page, "Save draft");
    await page.waitForURL(`**${draft}`);
    expect(await isOffered(page)).toBe(false);
    const text = agentYaml("gone", "1.0.0", { domain: "security" });
    await page.goto(draft);
    await page.getByLabel("YAML").fill(text);
    await dashboard.db.sql`delete from definitions where org_id = ${org.id} and name = 'gone'`;
    await press(page, "Save draft");
    await page.getByRole("heading", { name: "No longer there" }).waitFor();
    await page.goto(NEW);
    await press(page, "Restore");
    expect(await page.getByLabel("YAML").inputValue()).toBe(text);
    await press(page, "Save draft");
    await page.getByText("The draft is saved.").waitFor();
    await page.waitForLoadState();
    expect(await storedLength(page)).toBe(0);
  });
});

test("saving restored text does not overwrite a newer version of the draft", async () => {
  await visitAsAnn(async (page) => {
    await page.getByLabel("YAML").fill(agentYaml("shared"));
    await press(page, "Save draft");
    await page.getByText("The draft is saved.").waitFor();
    await page.getByLabel("Summary of the changes (optional)").fill("Mine");
    await sendWithoutSession(page, agentYaml("shared", "1.0.0", { domain: "security" }));
    await dashboard.db.sql`
      update definitions set updated_at = now() where org_id = ${org.id} and name = 'shared'`;
    await signIn(page, ann);
    await press(page, "Restore");
    expect(await page.getByLabel("Summary of the changes (optional)").inputValue()).toBe("Mine");
    await press(page, "Save draft");
    await page.getByRole("heading", { name: "Saved text" }).waitFor();
  });
});

test("when sessionStorage is full, saving still works and no unsaved text is offered", async () => {
  await visitAsAnn(async (page) => {
    await page.evaluate(`for (let length = 2 ** 23; length > 0; length >>= 1)
      try { while (true) sessionStorage.setItem(length + ":" + sessionStorage.length, "x".repeat(length)) } catch {}`);
    await sendWithoutSession(page, agentYaml("full"));
    await signIn(page, ann);
    expect(await isOffered(page)).toBe(false);
    await page.getByLabel("YAML").fill(agentYaml("full"));
    await press(page, "Save draft");
    await page.getByText("The draft is saved.").waitFor();
  });
});
