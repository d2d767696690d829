/** The documents' tables of variables match the configuration. */
import { expect, test } from "bun:test";
import { Environment } from "../../shared/process/config_variables.ts";
import { FILE_VARIABLES } from "../../shared/process/variable_files.ts";

/** Variables without a constant default. The table describes their default in words. */
const DESCRIBED_DEFAULTS = new Set([
  "ARTIFACT_URL",
  "AWS_CONTAINER_AUTHORIZATION_TOKEN",
  "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_ENDPOINT_URL_STS",
  "AWS_ROLE_ARN",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "DATABASE_DIRECT_URL",
  "DATABASE_REPLICA_URL",
  "DATABASE_URL",
  "EXPORT_IGNORE_APPLICATIONS",
  "EXPORT_STREAMS_PER_ORG",
  "METRICS_PORT",
  "PUBLIC_URL",
  "S3_ACCESS_KEY_ID",
  "S3_ENDPOINT",
  "S3_SECRET_ACCESS_KEY",
  "S3_SESSION_TOKEN",
  "SECURITY_CONTACT",
  "SIGN_UP_DOMAINS",
  "SMTP_URL",
  "SUPPORT_CONTACT",
  "WEBHOOK_ALLOWED_NETWORKS",
]);

/** Reads the default of each variable from a document's tables. */
async function readDefaults(path: string): Promise<Map<string, string>> {
  const text = await Bun.file(new URL(`../../${path}`, import.meta.url)).text();
  const rows = text.matchAll(/^\| `([A-Z0-9_]+)` \| ([^|]+) \|/gm);
  return new Map([...rows].map(([, name = "", value = ""]) => [name, value.replaceAll("`", "").trim()]));
}

function constantDefault(name: string): string | undefined {
  const schema = Environment.properties[name as keyof typeof Environment.properties];
  return DESCRIBED_DEFAULTS.has(name) ? undefined : String(schema.default);
}

test("docs/configuration.md lists exactly the variables that the service reads, with their defaults", async () => {
  const defaults = await readDefaults("docs/configuration.md");
  expect([...defaults.keys()].sort()).toEqual(Object.keys(Environment.properties).sort());
  for (const [name, given] of defaults) expect([name, given]).toEqual([name, constantDefault(name) ?? given]);
});

test("docs/configuration.md names every variable that can be read from a file", async () => {
  const text = await Bun.file(new URL("../../docs/configuration.md", import.meta.url)).text();
  for (const name of FILE_VARIABLES) expect(text).toContain(`\`${name}_FILE\``);
});

test("the README lists ten variables with the defaults from docs/configuration.md", async () => {
  const readme = await readDefaults("README.md");
  const defaults = await readDefaults("docs/configuration.md");
  expect(readme.size).toBe(10);
  for (const [name, given] of readme) expect([name, given]).toEqual([name, defaults.get(name) ?? "unknown"]);
});
