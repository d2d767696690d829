/** Traces of the processes, as a collector receives them. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { openTraceCollector, type TraceCollector } from "../helpers/network/trace_collector.ts";
import { startApi } from "../helpers/process/api_process.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { spawnService, untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID = "00f067aa0ba902b7";

function findSpan(collector: TraceCollector, name: string) {
  return waitFor(() => collector.spans.find((span) => span.name === name));
}

test("a request, the export job it queues and the job's mail continue the caller's trace", async () => {
  using collector = openTraceCollector();
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const { key } = person;
  await app.db.sql`update organizations set subscription_tier = 'enterprise'`;
  const env = {
    DATABASE_URL: app.db.url,
    DATA_DIR: app.deps.config.dataDir,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=c2VjcmV0",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  };
  await using api = await startApi(env);
  await using runner = await startRunner({ ...env, OTEL_SERVICE_NAME: "builders" });
  const traceparent = `00-${TRACE_ID}-${SPAN_ID}-01`;
  const queued = await api.request("/api/v1/export/jobs", {
    method: "POST",
    key,
    headers: { traceparent },
  });
  expect(queued.status).toBe(201);
  await api.request("/api/v1/models?secret=hidden", { key });
  const exported = await api.request(`/api/v1/export/projects/${project.id}/issues`, {
    key,
    headers: { "accept-encoding": "identity" },
  });
  const { byteLength } = await exported.arrayBuffer();
  const request = await findSpan(collector, "POST /api/v1/export/jobs");
  const build = await findSpan(collector, "process build_org_export");
  const mail = await findSpan(collector, "process send_export_ready");
  const file = await findSpan(collector, "GET /api/v1/export/projects/:project/:dataset");
  expect(request).toMatchObject({
    traceId: TRACE_ID,
    parentSpanId: SPAN_ID,
    kind: 2,
    attributes: {
      "http.request.method": "POST",
      "http.route": "/api/v1/export/jobs",
      "http.response.status_code": 201,
      "url.scheme": "http",
    },
    resource: { "service.name": "ulr-api", "deployment.environment.name": "test" },
  });
  for (const job of [build, mail]) {
    expect(job).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: request.spanId,
      kind: 5,
      resource: { "service.name": "builders" },
    });
  }
  expect(file).toMatchObject({
    parentSpanId: "",
    attributes: { "http.response.body.size": byteLength, "ulr.stream.outcome": "complete" },
  });
  expect(file.traceId).not.toBe(TRACE_ID);
  const logged = api.logLines().find((line) => line["route"] === "/api/v1/export/jobs");
  expect(logged?.["traceId"]).toBe(TRACE_ID);
  expect(runner.logLines().find((line) => line["event"] === "export_job.ready")?.["traceId"]).toBe(TRACE_ID);
  expect(collector.headers[0]?.get("x-collector-key")).toBe("c2VjcmV0");
  expect(JSON.stringify(collector.spans)).not.toMatch(new RegExp(`hidden|${key}|/health/`));
});

test("a request with a malformed traceparent header begins a new trace", async () => {
  using collector = openTraceCollector();
  await using app = await openTestApp();
  await using api = await startApi({
    DATABASE_URL: app.db.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  const malformed = [
    `00-${TRACE_ID}-${SPAN_ID}`,
    `00-${"0".repeat(32)}-${SPAN_ID}-01`,
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    "x".repeat(8000),
  ];
  for (const traceparent of malformed) {
    expect((await api.request("/api/v1/models", { headers: { traceparent } })).status).toBe(200);
  }
  const spans = await waitFor(() => {
    const found = collector.spans.filter(({ name }) => name === "GET /api/v1/models");
    return found.length === malformed.length ? found : undefined;
  });
  expect(spans.filter(({ parentSpanId }) => parentSpanId !== "")).toEqual([]);
  expect(spans.filter(({ traceId }) => traceId === TRACE_ID)).toEqual([]);
});

test("the standard OpenTelemetry variables control which traces are sampled", async () => {
  using collector = openTraceCollector();
  await using app = await openTestApp();
  const request = async (
    env: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
  ) => {
    await using api = await startApi({
      DATABASE_URL: app.db.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      ...env,
    });
    await api.request("/api/v1/models", { headers });
    api.kill("SIGTERM");
    expect(await api.exited).toBe(0);
    return collector.spans.splice(0).length;
  };
  const parent = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01` };
  const ratio = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" };
  expect(await request({}, {})).toBe(1);
  expect(await request(ratio, {})).toBe(0);
  expect(await request(ratio, parent)).toBe(1);
  expect(await request({ OTEL_TRACES_SAMPLER: "always_off" }, parent)).toBe(0);
  expect(await request({ OTEL_SDK_DISABLED: "true" }, {})).toBe(0);
  expect(await request({ OTEL_EXPORTER_OTLP_ENDPOINT: "" }, {})).toBe(0);
});

test("an unreachable or silent trace collector does not make requests or the shutdown fail", async () => {
  using silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  await using app = await openTestApp();
  for (const port of [1, silent.port]) {
    await using api = await startApi({
      DATABASE_URL: app.db.url,
      RATE_LIMIT_ANONYMOUS_PER_MINUTE: "100000",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    });
    // More spans than the queue can hold.
    for (let batch = 0; batch < 30; batch += 1) {
      const responses = await Promise.all(Array.from({ length: 100 }, () => api.request("/api/v1/models")));
      expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    }
    api.kill("SIGTERM");
    expect(await api.exited).toBe(0);
  }
});

test("a catalog sync is traced as a span with its outcome", async () => {
  using collector = openTraceCollector();
  await using app = await openTestApp();
  const directory = await mkdtemp(join(tmpdir(), "ulr-tracing-"));
  {
    await using sync = spawnService("catalog-sync", {
      DATABASE_URL: app.db.url,
      DATA_DIR: directory,
      CATALOG_SOURCE: "bundled",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    });
    await untilLogged(sync, "syncing");
    expect(await findSpan(collector, "sync catalog")).toMatchObject({
      kind: 1,
      status: 0,
      attributes: { "ulr.sync.outcome": "changed" },
      resource: { "service.name": "ulr-catalog-sync" },
    });
  }
  await rm(directory, { recursive: true, force: true });
});
