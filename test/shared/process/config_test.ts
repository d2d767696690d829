/** Parsing the environment: defaults, bounds, and messages about invalid values. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PgBoss } from "pg-boss";
import { readConfig } from "../../../shared/process/config.ts";

const URL = "postgres://app:hunter2@db.internal/app";

function problemsOf(env: Record<string, string>): string[] {
  const result = readConfig(env);
  return result.ok ? [] : result.problems;
}

test("readConfig() returns the defaults if only DATABASE_URL is set", () => {
  expect(readConfig({ DATABASE_URL: URL })).toEqual({
    ok: true,
    config: {
      databaseUrl: URL,
      databaseDirectUrl: URL,
      databaseReplicaUrl: null,
      databasePoolMax: 10,
      exportStreamsMax: 8,
      exportStreamsPerUser: 2,
      exportStreamsPerOrg: 4,
      exportStreamMaxMinutes: 60,
      exportIgnoreApplications: [],
      trackerSchema: "public",
      host: "127.0.0.1",
      port: 3000,
      publicUrl: "http://localhost:3000",
      dataDir: ".data",
      artifactUrl: pathToFileURL(join(process.cwd(), ".data/artifacts")).href,
      s3: null,
      catalogSource: "https://models.dev/api.json",
      catalogSyncCron: "23 */6 * * *",
      exportSyncMaxRows: 250_000,
      exportBundleMaxRows: 500_000,
      exportPrepareTimeoutMs: 10_000,
      exportJobsPerHour: 5,
      exportRetentionHours: 72,
      exportBuildTimeoutMinutes: 60,
      exportBuildPatienceMinutes: 60,
      exportSweepCron: "*/5 * * * *",
      smtpUrl: null,
      webhookAllowedNetworks: null,
      mailFrom: "ulr <no-reply@localhost>",
      signUp: "invited",
      signUpDomains: [],
      securityContact: null,
      supportContact: null,
      organizationCreation: "users",
      auditRetentionDays: 400,
      executionRetentionDays: 400,
      eventRetentionDays: 30,
      exportJobRetentionDays: 400,
      sessionRetentionDays: 0,
      sessionTtlHours: 336,
      rateLimitAnonymousPerMinute: 120,
      rateLimitUserPerMinute: 1200,
      rateLimitLoginPerMinute: 10,
      shutdownDelaySeconds: 0,
      metricsHost: "127.0.0.1",
      metricsPort: null,
      trustProxy: 0,
      logLevel: "info",
      logAddresses: "full",
    },
  });
});

test("readConfig() lets an organization use half of the export streams by default, but at least one", () => {
  for (const [max, perOrg] of [
    ["9", 4],
    ["1", 1],
  ] as const) {
    expect(readConfig({ DATABASE_URL: URL, EXPORT_STREAMS_MAX: max })).toMatchObject({
      config: { exportStreamsPerOrg: perOrg },
    });
  }
  expect(readConfig({ DATABASE_URL: URL, EXPORT_STREAMS_PER_ORG: "7" })).toMatchObject({
    config: { exportStreamsPerOrg: 7 },
  });
});

test("readConfig() uses PORT in the default PUBLIC_URL, and removes trailing slashes from a given PUBLIC_URL", () => {
  expect(readConfig({ DATABASE_URL: URL, PORT: "8080" })).toMatchObject({
    config: { port: 8080, publicUrl: "http://localhost:8080" },
  });
  expect(readConfig({ DATABASE_URL: URL, PUBLIC_URL: "https://ulr.example//" })).toMatchObject({
    config: { publicUrl: "https://ulr.example" },
  });
});

test("readConfig() treats an empty or blank variable as unset", () => {
  expect(readConfig({ DATABASE_URL: URL, PORT: "", HOST: "  " })).toMatchObject({
    config: { port: 3000, host: "127.0.0.1" },
  });
  expect(problemsOf({ DATABASE_URL: " " })).toEqual([
    "DATABASE_URL: must be set (only `bun run start` brings its own PostgreSQL)",
  ]);
});

test("readConfig() reports all problems at once, one line each, without the invalid values", () => {
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
  [
    "WEBHOOK_ALLOWED_NETWORKS",
    ["10.1.0.0/16", "10.1.0.0/16,fd00::/8"],
    ["10.1.0.0", "10.0.0.0/33", "example.com/8", ","],
  ],
  [
    "SECURITY_CONTACT",
    ["mailto:security@ulr.example", "https://ulr.example/report", "tel:+1-201-555-0123"],
    ["security@ulr.example", "mailto:", "http://ulr.example", "https://a\nExpires: never", "tel:x"],
  ],
  [
    "SUPPORT_CONTACT",
    ["mailto:sales@ulr.example", "https://ulr.example/pricing", "tel:+1-201-555-0123"],
    ["sales@ulr.example", "http://ulr.example", "javascript:alert(1)"],
  ],
  [
    "PUBLIC_URL",
    ["https://ulr.example", "http://127.0.0.1:3000/", "https://[::1]:8443", "https://ulr.example/tools"],
    [
      ...["https://ulr.example:99999", "https://:443", "https://user:pw@ulr.example", "https://"],
      ...["https://ulr.example/?x=1", "https://ulr.example/#top", "ulr.example"],
    ],
  ],
  ["S3_ENDPOINT", ["https://s3.example:9000"], ["https://s3.example:99999", "https://:9000"]],
  ["ORGANIZATION_CREATION", ["users", "admin"], ["nobody", "USERS"]],
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
  ["TRUST_PROXY", ["true", "false", "0", "1", "20"], ["-1", "21", "1.5", "yes", "TRUE"]],
  ["LOG_ADDRESSES", ["full", "network", "none"], ["some", "/24"]],
  ["LOG_LEVEL", ["silent", "trace"], ["INFO", "verbose"]],
] as const) {
  test(`readConfig() accepts ${good.join(", ")} as ${name} and rejects ${bad.join(", ")}`, () => {
    for (const value of good) expect(problemsOf({ DATABASE_URL: URL, [name]: value })).toEqual([]);
    for (const value of bad) {
      const problems = problemsOf({ DATABASE_URL: URL, [name]: value });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toStartWith(`${name}: must be `);
    }
  });
}

test("readConfig() rejects invalid schedules, mail servers and senders", () => {
  const wrong = {
    EXPORT_SWEEP_CRON: [
      "every 5 minutes",
      "* * * * * *",
      "3 * * *",
      "61 * * * *",
      "0 0 30 2 *",
      "0 0 31 4,6 *",
    ],
    SMTP_URL: [
      "mail.internal:25",
      "http://mail.internal",
      "smtp://",
      "smtp://u:%zz@mail.internal",
      "smtp://a b",
    ],
    MAIL_FROM: ["ulr", "a@b, c@d", "Acme, Inc <a@b>", "<a@b", "x\r\nBcc: c@d <a@b>", "a@b>"],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const problems = problemsOf({ DATABASE_URL: URL, [name]: value });
      expect([value, problems.length]).toEqual([value, 1]);
      expect(problems[0]).toStartWith(`${name}: must be `);
    }
  }
});

test("readConfig() accepts and rejects the same cron schedules as the job queue, and explains a rejection", () => {
  // The queue is not started, so it opens no connection.
  const boss = new PgBoss(URL);
  const isTaken = (cron: string): boolean => {
    try {
      return boss.previewSchedule(cron, { tz: "UTC", count: 1 }).length === 1;
    } catch {
      return false;
    }
  };
  const right = ["*/5 * * * *", "0 3 ? * MON-FRI", "0 3 L * *", "0 3 * * 5L", "0 3 * * MON#2", "0 0 29 2 *"];
  for (const cron of right) {
    const problems = problemsOf({ DATABASE_URL: URL, EXPORT_SWEEP_CRON: cron });
    expect([cron, isTaken(cron), problems]).toEqual([cron, true, []]);
  }
  for (const cron of ["0 3 15W * *", "0 3 LW * *", "0 3 * * +MON", "0 3 +1 * *"]) {
    const problems = problemsOf({ DATABASE_URL: URL, EXPORT_SWEEP_CRON: cron });
    expect([cron, isTaken(cron), problems]).toEqual([
      cron,
      false,
      [expect.stringContaining("without `W` and `+`")],
    ]);
  }
});

test("readConfig() accepts valid schedules, mail servers and senders", () => {
  const right = {
    EXPORT_SWEEP_CRON: ["0 3 * * *", "*/10 8-18 * * MON-FRI"],
    SMTP_URL: [
      "smtp://mail.internal",
      "smtps://me%40acme:p%2Fw@mail.internal:465?tls.rejectUnauthorized=false",
      "smtp://[::1]:25",
    ],
    MAIL_FROM: ["a@b", "<a@b>", "ulr <a@b>", '"Acme, Inc." <a@b>', "Ünïcode <a@b>"],
  };
  for (const [name, values] of Object.entries(right)) {
    for (const value of values) expect(problemsOf({ DATABASE_URL: URL, [name]: value })).toEqual([]);
  }
});

test("readConfig() reads the bucket of an s3:// URL, which requires credentials", () => {
  const bucket = { DATABASE_URL: URL, ARTIFACT_URL: "s3://my-bucket/some/prefix" };
  const keys = { S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "hunter2" };
  expect(readConfig({ ...bucket, ...keys })).toMatchObject({
    config: {
      artifactUrl: "s3://my-bucket/some/prefix",
      s3: {
        endpoint: null,
        region: "us-east-1",
        credentials: { type: "static", accessKeyId: "id", secretAccessKey: "hunter2", sessionToken: null },
      },
    },
  });
  const endpoint = { S3_ENDPOINT: "http://127.0.0.1:9000", S3_REGION: "eu-1" };
  expect(readConfig({ ...bucket, ...keys, ...endpoint })).toMatchObject({
    config: { s3: { endpoint: "http://127.0.0.1:9000", region: "eu-1" } },
  });
  expect(problemsOf(bucket)).toEqual([
    "S3_ACCESS_KEY_ID: must be set when ARTIFACT_URL is an s3:// URL",
    "S3_SECRET_ACCESS_KEY: must be set when ARTIFACT_URL is an s3:// URL",
  ]);
  // Credentials in the environment do not enable a bucket.
  expect(readConfig({ DATABASE_URL: URL, ...keys })).toMatchObject({ config: { s3: null } });
  for (const [name, value] of [
    ["ARTIFACT_URL", "s3://"],
    ["ARTIFACT_URL", "s3:///prefix"],
    ["ARTIFACT_URL", "s3://hunter2:x@bucket"],
    ["ARTIFACT_URL", "s3://bucket/a?hunter2"],
    ["ARTIFACT_URL", "https://bucket.example/hunter2"],
    ["S3_ENDPOINT", "ftp://hunter2"],
    ["S3_ENDPOINT", "https://hunter2:x@host"],
    ["S3_ENDPOINT", "http://host/path"],
    ["S3_REGION", "hunter2 x"],
    ["S3_SECRET_ACCESS_KEY", "hunter2 x"],
  ] as const) {
    const problems = problemsOf({ ...bucket, ...keys, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toStartWith(`${name}: must be `);
    expect(problems[0]).not.toContain("hunter2");
  }
});

test("readConfig() reads TRUST_PROXY as a boolean or a number of proxies", () => {
  const counts = ["false", "0", "true", "1", "3"].map((TRUST_PROXY) => {
    const result = readConfig({ DATABASE_URL: URL, TRUST_PROXY });
    return result.ok ? result.config.trustProxy : null;
  });
  expect(counts).toEqual([0, 0, 1, 1, 3]);
});

test("readConfig() reads EXPORT_IGNORE_APPLICATIONS as a list of names", () => {
  const read = (value: string) => readConfig({ DATABASE_URL: URL, EXPORT_IGNORE_APPLICATIONS: value });
  expect(read(" pg_dump, Metabase v1.50 [db] ")).toMatchObject({
    config: { exportIgnoreApplications: ["pg_dump", "Metabase v1.50 [db]"] },
  });
  expect(read("")).toMatchObject({ config: { exportIgnoreApplications: [] } });
  for (const value of ["pg_dump,", ",", "a,,b", "x".repeat(64), "caf\u00e9"]) {
    expect(problemsOf({ DATABASE_URL: URL, EXPORT_IGNORE_APPLICATIONS: value })).toEqual([
      "EXPORT_IGNORE_APPLICATIONS: must be application names of database sessions, separated by commas",
    ]);
  }
});
