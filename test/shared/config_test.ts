/** Reading the environment: defaults, bounds, and what is said about wrong values. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readConfig } from "../../shared/config.ts";

const URL = "postgres://app:hunter2@db.internal/app";

function problemsOf(env: Record<string, string>): string[] {
  const result = readConfig(env);
  return result.ok ? [] : result.problems;
}

test("readConfig() has the contract's defaults", () => {
  expect(readConfig({ DATABASE_URL: URL })).toEqual({
    ok: true,
    config: {
      databaseUrl: URL,
      databasePoolMax: 10,
      exportStreamsMax: 8,
      host: "127.0.0.1",
      port: 3000,
      publicUrl: "http://localhost:3000",
      dataDir: ".data",
      artifactUrl: pathToFileURL(join(process.cwd(), ".data/artifacts")).href,
      catalogSource: "bundled",
      catalogSyncCron: "23 */6 * * *",
      exportSyncMaxRows: 250_000,
      exportBundleMaxRows: 500_000,
      exportPrepareTimeoutMs: 10_000,
      exportJobsPerHour: 5,
      exportRetentionHours: 72,
      exportBuildTimeoutMinutes: 60,
      sessionTtlHours: 336,
      rateLimitAnonymousPerMinute: 120,
      rateLimitUserPerMinute: 1200,
      rateLimitLoginPerMinute: 10,
      trustProxy: false,
      logLevel: "info",
    },
  });
});

test("readConfig() follows the port in the default public URL, and cuts a given one's trailing slashes", () => {
  expect(readConfig({ DATABASE_URL: URL, PORT: "8080" })).toMatchObject({
    config: { port: 8080, publicUrl: "http://localhost:8080" },
  });
  expect(readConfig({ DATABASE_URL: URL, PUBLIC_URL: "https://ulr.example//" })).toMatchObject({
    config: { publicUrl: "https://ulr.example" },
  });
});

test("readConfig() takes an empty or blank variable for an unset one", () => {
  expect(readConfig({ DATABASE_URL: URL, PORT: "", HOST: "  " })).toMatchObject({
    config: { port: 3000, host: "127.0.0.1" },
  });
  expect(problemsOf({ DATABASE_URL: " " })).toEqual([
    "DATABASE_URL: must be set (only `bun run start` brings its own PostgreSQL)",
  ]);
});

test("readConfig() reports all problems at once, one line each, and never a value", () => {
  const values = {
    DATABASE_URL: "mysql://app:hunter2@db/app",
    DATABASE_POOL_MAX: "0",
    PORT: "70000",
    PUBLIC_URL: "ftp://hunter2",
    TRUST_PROXY: "perhaps",
    LOG_LEVEL: "hunter2",
    SESSION_TTL_HOURS: "1.5",
  };
  const problems = problemsOf(values);
  expect(problems.map((line) => line.slice(0, line.indexOf(":"))).toSorted()).toEqual(
    Object.keys(values).toSorted(),
  );
  for (const line of problems) expect(line).not.toMatch(/\n|hunter2|70000|perhaps/);
});

for (const [name, good, bad] of [
  ["PORT", ["0", "65535"], ["-1", "65536", "80a", "0x50", "1e3", "3000.0"]],
  ["DATABASE_POOL_MAX", ["1", "1000"], ["0", "1001"]],
  ["EXPORT_SYNC_MAX_ROWS", ["0", "2147483647"], ["2147483648", "99999999999999999999"]],
  [
    "CATALOG_SOURCE",
    [
      "bundled",
      "/data/models.json.gz",
      "models.json",
      "https://models.dev/api.json",
      "http://127.0.0.1:8080/a",
      "http://[::1]/",
    ],
    ["http://models.dev/api.json", "ftp://models.dev", "file:///models.json", "http://127.0.0.1.models.dev/"],
  ],
  [
    "CATALOG_SYNC_CRON",
    ["0 3 * * *", "*/5 1-4 * * 1"],
    ["hourly", "* * *", "61 * * * *", "0 0 31 2 *", "2030-01-01T00:00:00"],
  ],
  ["TRUST_PROXY", ["true", "false"], ["1", "yes", "TRUE"]],
  ["LOG_LEVEL", ["silent", "trace"], ["INFO", "verbose"]],
] as const) {
  test(`readConfig() accepts ${good.join(", ")} as ${name} and refuses ${bad.join(", ")}`, () => {
    for (const value of good) expect(problemsOf({ DATABASE_URL: URL, [name]: value })).toEqual([]);
    for (const value of bad) {
      const problems = problemsOf({ DATABASE_URL: URL, [name]: value });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toStartWith(`${name}: must be `);
    }
  });
}
