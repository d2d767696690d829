/** Warnings about misspelled variables, and none about other programs' variables. */
import { expect, test } from "bun:test";
import { describeUnknownVariables } from "../../../shared/process/unknown_variables.ts";

test("a warning about a misspelled variable suggests the right name", () => {
  for (const [given, meant] of [
    ["DATABSE_POOL_MAX", "DATABASE_POOL_MAX"],
    ["DATABASE_POOLMAX", "DATABASE_POOL_MAX"],
    ["RATE_LIMIT_ANONYMOUS", "RATE_LIMIT_ANONYMOUS_PER_MINUTE"],
    ["S3_SECRET_KEY", "S3_SECRET_ACCESS_KEY"],
    ["SMPT_URL_FILE", "SMTP_URL_FILE"],
    ["TRUSTED_PROXY", "TRUST_PROXY"],
    ["DATABASE_URL_TEST", "DATABASE_URL"],
  ] as const) {
    expect(describeUnknownVariables({ [given]: "secret" })).toEqual([
      `${given}: unknown variable, ignored. Did you mean ${meant}?`,
    ]);
  }
});

test("an unknown variable with a known prefix causes a warning, even if no known name is similar", () => {
  expect(describeUnknownVariables({ EXPORT_QQQQ: "x" })).toEqual(["EXPORT_QQQQ: unknown variable, ignored."]);
});

test("known, empty and other programs' variables cause no warning", () => {
  const names = [
    ...["DATABASE_URL", "DATABASE_URL_FILE", "PORT", "AWS_ROLE_ARN", "AWS_REGION", "AWS_ACCESS_KEY_ID"],
    ...[
      "OTEL_SERVICE_NAME",
      "HOSTNAME",
      "HOME",
      "PATH",
      "LOGNAME",
      "SESSION_MANAGER",
      "PGHOST",
      "PGPORT",
      "MAIL",
      "NODE_ENV",
      "USER",
    ],
    ...["DATABASE_SERVICE_HOST", "DATABASE_SERVICE_PORT", "DATABASE_SERVICE_PORT_SQL", "DATABASE_PORT"],
    ...["DATABASE_PORT_5432_TCP", "DATABASE_PORT_5432_TCP_ADDR", "ULR_SERVICE_HOST", "LANG", "PWD", "TERM"],
    ...["TEST_DATABASE_URL", "MY_SMTP_URL"],
  ];
  expect(describeUnknownVariables(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual([]);
  expect(describeUnknownVariables({ DATABASE_ULR: " " })).toEqual([]);
});
