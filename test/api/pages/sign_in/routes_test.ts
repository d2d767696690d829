import { expect, test } from "bun:test";
import { makeAccount } from "../../../helpers/accounts/accounts.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openPage, sendForm } from "../../../helpers/pages/forms.ts";

test("the form of /dashboard/sign-in creates a session and redirects to the page in next", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  const { email, password } = account;
  const path = "/dashboard/sign-in?next=%2Fmodels%3Fsearch%3Da%2526b";
  expect(await (await openPage(api, path)).text()).toContain(
    `<form id="sign-in" class="stacked" method="post" action="${path}">`,
  );
  const response = await sendForm(api, path, { email, password });
  expect([response.status, response.headers.get("location")]).toEqual([303, "/models?search=a%26b"]);
  const [cookie = ""] = response.headers.getSetCookie();
  expect(cookie).toMatch(/^ulr_session=uls_[\w-]+; HttpOnly; SameSite=Lax; Path=\/; Max-Age=\d+$/);
  const token = cookie.slice("ulr_session=".length, cookie.indexOf(";"));
  expect(await (await openPage(api, "/", token)).text()).toContain(account.username);
  const again = await openPage(api, path, token);
  expect([again.status, again.headers.get("location")]).toEqual([303, "/models?search=a%26b"]);
});

test("a wrong password is reported on the form, which keeps only the email address", async () => {
  await using api = await openTestApp();
  const response = await sendForm(api, "/dashboard/sign-in", { email: '"><b>@x', password: "not it" });
  const page = await response.text();
  expect(response.status).toBe(401);
  expect(page).toContain('role="alert">Wrong email or password.</div>');
  expect(page).toContain('value="&quot;&gt;&lt;b&gt;@x" aria-invalid="true" aria-describedby="problem"');
  expect(page).toContain("<title>Error: Sign in");
  expect(page).not.toContain("not it");
  expect([response.headers.get("cache-control"), response.headers.getSetCookie()]).toEqual([
    "private, no-store",
    [],
  ]);
});

test("too many attempts are reported with the time to wait", async () => {
  await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 1 } });
  const send = () => sendForm(api, "/dashboard/sign-in", { email: "a@example.com", password: "x" });
  await send();
  const response = await send();
  expect([response.status, await response.text()]).toEqual([
    429,
    expect.stringMatching(/role="alert">Too many attempts\. Try again in \d+ seconds?\.</),
  ]);
});

test("a form from another site or with too much data creates no session", async () => {
  await using api = await openTestApp();
  const { email, password } = await makeAccount(api);
  const foreign = { headers: { origin: "https://evil.example" } };
  expect((await sendForm(api, "/dashboard/sign-in", { email, password }, foreign)).status).toBe(403);
  const large = await sendForm(api, "/dashboard/sign-in", { email, password: "x".repeat(20_000) });
  expect(large.status).toBe(413);
  expect(large.headers.getSetCookie()).toEqual([]);
});

test("signing in works in a browser that already has a session", async () => {
  await using api = await openTestApp();
  const { email, password, id } = await makeAccount(api);
  const { token } = await api.make.session({ userId: id });
  const response = await sendForm(api, "/dashboard/sign-in", { email, password }, { token, formToken: "" });
  expect(response.status).toBe(303);
});

test("POST /dashboard/sign-out ends the session and clears its cookies", async () => {
  await using api = await openTestApp();
  const { user } = await api.make.person();
  const { token } = await api.make.session({ userId: user.id });
  const response = await sendForm(api, "/dashboard/sign-out", {}, { token });
  expect([response.status, response.headers.get("location")]).toEqual([303, "/dashboard/sign-in"]);
  expect(response.headers.getSetCookie()).toEqual([
    "ulr_session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0",
    "ulr_org=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0",
  ]);
  expect(response.headers.get("clear-site-data")).toBe('"cache", "storage"');
  expect((await api.request("/api/v1/auth/me", { key: token })).status).toBe(401);
});

test("another site cannot sign anyone out", async () => {
  await using api = await openTestApp();
  const { user } = await api.make.person();
  const { token } = await api.make.session({ userId: user.id });
  const options = { token, headers: { origin: "https://evil.example" } };
  expect((await sendForm(api, "/dashboard/sign-out", {}, options)).status).toBe(403);
  expect((await api.request("/api/v1/auth/me", { key: token })).status).toBe(200);
});

test("signing out without a session redirects to the sign-in page", async () => {
  await using api = await openTestApp();
  const response = await sendForm(api, "/dashboard/sign-out", {});
  expect([response.status, response.headers.get("location")]).toEqual([303, "/dashboard/sign-in"]);
});

test("GET /invitation is public, and POST requires a session", async () => {
  await using api = await openTestApp();
  const path = "/invitation?token=x";
  expect((await openPage(api, path)).status).toBe(400);
  const response = await sendForm(api, path, {});
  expect([response.status, response.headers.get("location")]).toEqual([
    303,
    `/dashboard/sign-in?next=${encodeURIComponent(path)}&ended`,
  ]);
});
