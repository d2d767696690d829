import { expect, test } from "bun:test";
import { nextPath } from "../../../../api/pages/sign_in/next_path.ts";

const HOME = "/dashboard/exports";

test.each([
  ["/dashboard/exports?org=x#jobs", "/dashboard/exports?org=x#jobs"],
  ["/definitions/agent/@demo/x?tab=yaml", "/definitions/agent/@demo/x?tab=yaml"],
  ["/dashboard/../models", "/models"],
  [null, HOME],
  ["", HOME],
  ["models", HOME],
  ["//evil.example/dashboard/", HOME],
  ["/\\evil.example/", HOME],
  ["\\\\evil.example/dashboard/", HOME],
  ["/\t/evil.example/", HOME],
  ["/.//evil.example/", HOME],
  ["/x/..//evil.example/", HOME],
  ["https://evil.example/dashboard/exports", HOME],
  ["http://site.invalid/models", HOME],
  ["javascript:alert(1)//dashboard/", HOME],
  ["/api/v1/auth/me", HOME],
  ["/dashboard/../api/v1/auth/me", HOME],
  ["/dashboard/sign-in?next=/swagger", HOME],
  ["/dashboard/sign-out", HOME],
])("signing in with next=%p leads to %p", (given, path) => {
  expect(nextPath(given)).toBe(path);
});
