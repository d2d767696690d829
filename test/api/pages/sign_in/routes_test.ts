import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openPage, sendForm } from "../../../helpers/pages/forms.ts";

test("POST /dashboard/sign-out ends the session, clears its cookie and leads to the start page", async () => {
  await using api = await openTestApp();
  const { user } = await api.make.person();
  const { token } = await api.make.session({ userId: user.id });
  const response = await sendForm(api, "/dashboard/sign-out", {}, { token });
  expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
  expect(response.headers.getSetCookie()).toEqual(["session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0"]);
  expect((await api.request("/api/v1/auth/me", { key: token })).status).toBe(401);
  expect(await (await openPage(api, "/", token)).text()).toContain(">Sign in</a>");
});

test("nobody can sign somebody else out from another site", async () => {
  await using api = await openTestApp();
  const { user } = await api.make.person();
  const { token } = await api.make.session({ userId: user.id });
  const options = { token, headers: { origin: "https://evil.example" } };
  expect((await sendForm(api, "/dashboard/sign-out", {}, options)).status).toBe(403);
  expect((await api.request("/api/v1/auth/me", { key: token })).status).toBe(200);
});

test("without a session it leads to the start page", async () => {
  await using api = await openTestApp();
  const response = await sendForm(api, "/dashboard/sign-out", {});
  expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
});
