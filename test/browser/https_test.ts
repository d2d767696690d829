/** The dashboard behind a TLS proxy, where the session cookie has the `__Host-` prefix. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chooseFreePort } from "../../deploy/local/machine.ts";
import { makeAccount } from "../helpers/accounts/accounts.ts";
import { openVisit } from "./browser.ts";
import { type Dashboard, openDashboard } from "./dashboard.ts";
import { startTlsProxy, type TlsProxy } from "./tls_proxy.ts";

let dashboard: Dashboard;
let proxy: TlsProxy;

beforeAll(async () => {
  const port = chooseFreePort("127.0.0.1");
  dashboard = await openDashboard({ PUBLIC_URL: `https://127.0.0.1:${port}` });
  proxy = await startTlsProxy(port, () => dashboard.api.url);
});

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await dashboard?.[Symbol.asyncDispose]();
});

test("over HTTPS, a user signs in with a __Host- cookie, and signing out clears all cookies", async () => {
  const account = await makeAccount(dashboard);
  const org = await dashboard.make.org();
  await dashboard.make.member({ orgId: org.id, userId: account.id, role: "publisher" });
  await using visit = await openVisit(dashboard.browser, { origin: proxy.origin, ignoreHTTPSErrors: true });
  const { page } = visit;
  await page.goto("/dashboard");
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password").fill(account.password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard/exports");
  await page.getByRole("heading", { name: "Start an export" }).waitFor();
  const cookies = await page.context().cookies();
  const [chosen, ...others] = cookies.filter(({ name }) => name !== "__Host-ulr_session");
  expect(chosen).toMatchObject({ name: "ulr_org", secure: true, httpOnly: true });
  expect(others).toEqual([]);
  const cookie = cookies.find(({ name }) => name === "__Host-ulr_session");
  expect(cookie).toMatchObject({
    name: "__Host-ulr_session",
    secure: true,
    httpOnly: true,
    path: "/",
    domain: "127.0.0.1",
  });
  const leave = page.waitForResponse("**/dashboard/sign-out");
  await page.getByRole("button", { name: "Sign out" }).click();
  expect(await (await leave).headerValue("clear-site-data")).toBe('"cache", "storage"');
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  expect(visit.faults).toEqual([]);
});
