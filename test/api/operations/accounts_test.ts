import { expect, test } from "bun:test";
import type { OpenApiDocument } from "../../../api/openapi/types.ts";
import { openTestApp } from "../../helpers/http/app.ts";

const AUTH = "/api/v1/auth";

test("the sign-in routes are documented with their errors and an example response", async () => {
  await using api = await openTestApp();
  const { paths } = (await (await api.request("/swagger/json")).json()) as OpenApiDocument;
  const described: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith(AUTH)) continue;
    for (const [method, operation] of Object.entries(methods)) {
      const { responses = {} } = operation;
      const [success = ""] = Object.keys(responses).filter((status) => status.startsWith("2"));
      described.push(`${method} ${path.slice(AUTH.length)} ${success} ${"403" in responses}`);
      expect(responses[success]).not.toHaveProperty("examples");
      if (success === "202" || success === "204") continue;
      expect(responses[success]?.content).toMatchObject({
        "application/json": { example: { data: expect.any(Object) } },
      });
    }
  }
  expect(described.toSorted()).toEqual([
    "delete /factors/{id} 204 true",
    "delete /keys/{id} 204 true",
    "delete /sessions/{id} 204 true",
    "get /factors 200 true",
    "get /keys 200 true",
    "get /me 200 false",
    "get /sessions 200 true",
    "patch /factors/{id} 200 true",
    "post /email 202 true",
    "post /email/confirm 204 true",
    "post /factors/passkeys 201 true",
    "post /factors/passkeys/options 201 true",
    "post /factors/recovery-codes 201 true",
    "post /factors/totp 201 true",
    "post /factors/totp/confirm 201 true",
    "post /factors/verify 200 true",
    "post /factors/verify/options 200 true",
    "post /keys 201 true",
    "post /login 200 true",
    "post /login/second-factor 200 true",
    "post /login/second-factor/options 200 false",
    "post /logout 204 true",
    "post /password 204 true",
    "post /password/reset 202 true",
    "post /password/reset/confirm 204 true",
    "post /sign-up 202 true",
    "post /sign-up/confirm 201 true",
  ]);
});
