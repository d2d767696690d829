import { expect, test } from "bun:test";
import { openTestApp } from "../../../../helpers/http/app.ts";
import { sendForm } from "../../../../helpers/pages/forms.ts";

test("the second step shows the form again for an unknown sign-in, with a way to start again", async () => {
  await using api = await openTestApp();
  const fields = { loginToken: '"><script>', code: "123456" };
  const response = await sendForm(api, "/dashboard/sign-in/second-factor", fields);
  const page = await response.text();
  expect(response.status).toBe(401);
  expect(page).toContain("The sign-in has expired or was used.");
  expect(page).toContain('<a href="/dashboard/sign-in">Back to sign in</a>');
  expect(page).not.toContain('"><script>');
});
