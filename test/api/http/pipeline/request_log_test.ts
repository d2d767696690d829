import { describe, expect, test } from "bun:test";
import { auditRows, login } from "../../../helpers/accounts/accounts.ts";
import { JOBS_PATH, jobOf } from "../../../helpers/exports/export_job.ts";
import { exportDataset, makeExportProject } from "../../../helpers/exports/export_project.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { probeRoutes } from "../../../helpers/http/probe_routes.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

describe("the log line of a request", () => {
  test("contains the route, status, duration, caller, code and the route's own fields", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { user, key, keyId } = await api.make.person();
    await api.request("/api/v1/things/publish", { key, method: "POST", headers: { "x-request-id": "r1" } });
    await api.request("/api/v1/noted");
    await api.request("/api/v1/things", { method: "POST" });
    const known = { level: "info", process: "test", durationMs: expect.any(Number), address: "192.0.2.1" };
    expect(api.logLines).toMatchObject([
      {
        ...known,
        requestId: "r1",
        method: "POST",
        route: "/api/v1/things/publish",
        status: 200,
        callerId: user.id,
        credentialId: keyId,
      },
      { ...known, method: "GET", route: "/api/v1/noted", status: 200, callerId: null, rows: 7 },
      {
        ...known,
        method: "POST",
        route: "/api/v1/things",
        status: 401,
        callerId: null,
        code: "UNAUTHORIZED",
      },
    ]);
  });

  test("contains no credential, query, path value, header or body of the request", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { key } = await api.make.person();
    const secrets = ["path-value", "query-value", "cookie-value", "body-value", key, "ulr_unknown-key-value"];
    await api.request("/api/v1/echo/path-value?token=query-value", {
      key,
      headers: { cookie: "ulr_session=cookie-value" },
    });
    await api.request("/api/v1/things", { key, method: "POST", body: { name: 1, size: "body-value" } });
    await api.request("/api/v1/nowhere/path-value?format=query-value", { key: "ulr_unknown-key-value" });
    const text = JSON.stringify(api.logLines);
    expect(api.logLines).toHaveLength(3);
    for (const secret of secrets) expect(text).not.toContain(secret);
  });
});

test("a request refused for lack of capacity is logged at level warn, without a stack", async () => {
  await using api = await openTestApp({ config: { exportStreamsMax: 1 } });
  const given = await makeExportProject(api);
  const held = await exportDataset(api, given, "issues");
  expect((await exportDataset(api, given, "issues")).status).toBe(503);
  await held.text();
  const [turnedAway] = api.logLines.filter((line) => line["status"] === 503);
  expect(turnedAway).toMatchObject({
    level: "warn",
    message: "request turned away",
    code: "SERVICE_UNAVAILABLE",
  });
  expect(turnedAway).not.toHaveProperty("err");
});

test("probes and scrapes are logged at level debug unless they fail", async () => {
  await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 1 } });
  for (const path of ["/health/live", "/health/ready", "/metrics", "/metrics"]) await api.request(path);
  expect(api.logLines.map(({ route, level, status }) => [route, level, status])).toEqual([
    ["/health/live", "debug", 200],
    ["/health/ready", "debug", 200],
    ["/metrics", "debug", 200],
    ["none", "info", 429],
  ]);
});

test("LOG_ADDRESSES controls the address in log lines, while the audit log keeps the full address", async () => {
  for (const [logAddresses, address, logged] of [
    ["full", "198.51.100.7", "198.51.100.7"],
    ["network", "198.51.100.7", "198.51.100.0/24"],
    ["network", "2001:db8:1:2::3", "2001:db8:1::/48"],
    ["none", "198.51.100.7", undefined],
  ] as const) {
    await using api = await openTestApp({ config: { logAddresses } });
    const attempt = { email: "nobody@example.com", password: "wrong password" };
    await login(api, attempt, { address });
    expect(api.logLines.map((line) => line["address"])).toEqual([logged]);
    // The response does not wait for the audit entry.
    const [entry] = await waitFor(async () => {
      const entries = await api.db.sql`select address from audit_log`;
      return entries.length > 0 ? entries : null;
    });
    expect(entry).toMatchObject({ address });
  }
});

describe("the log line of a stream", () => {
  test("is written after the last byte", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const response = await api.request("/api/v1/stream/whole");
    expect(api.logLines).toEqual([]);
    await response.text();
    await waitFor(() => api.logLines.length === 1);
    expect(api.logLines).toMatchObject([{ level: "info", status: 200, outcome: "complete", bytes: 100 }]);
  });

  test("is written when the client disconnects", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const response = await api.request("/api/v1/stream/endless");
    await response.body?.cancel();
    await waitFor(() => api.logLines.length === 1);
    expect(api.logLines).toMatchObject([{ level: "info", status: 200, outcome: "aborted" }]);
  });

  test("contains the reason if the stream breaks", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const response = await api.request("/api/v1/stream/fail");
    await expect(response.text()).rejects.toThrow("the source broke");
    await waitFor(() => api.logLines.length === 1);
    expect(api.logLines).toMatchObject([
      {
        level: "error",
        status: 200,
        outcome: "failed",
        bytes: 30,
        err: { message: "Cannot read on: the source broke" },
      },
    ]);
  });

  test("for HEAD is written immediately", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    await api.request("/api/v1/stream/endless", { method: "HEAD" });
    expect(api.logLines).toMatchObject([{ method: "HEAD", status: 200 }]);
  });
});

test("a request id links the response, the log line and the audit entry", async () => {
  await using api = await openTestApp();
  const { person } = await makeExportProject(api);
  const requestId = "story-1";
  const headers = { "x-request-id": requestId, "x-org-slug": person.org.slug };
  const done = await api.request(JOBS_PATH, { method: "POST", key: person.key, headers });
  expect(done.headers.get("x-request-id")).toBe(requestId);
  const job = await jobOf(done);
  const lines = api.logLines.filter((line) => line["requestId"] === requestId);
  expect(lines).toMatchObject([
    { route: JOBS_PATH, status: 201, callerId: person.user.id, credentialId: person.keyId },
  ]);
  const rows = (await auditRows(api)).filter((row) => row["clientRequestId"] === requestId);
  expect(rows).toMatchObject([
    { actorUserId: person.user.id, credentialId: person.keyId, subjectId: job.id },
  ]);
});
