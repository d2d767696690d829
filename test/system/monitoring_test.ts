/** The responses of the three processes on METRICS_PORT, compared with the shipped rules, dashboard and documents. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sendRaw } from "../helpers/network/send_raw.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { type ServiceProcess, spawnService, untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

const ROOT = join(import.meta.dir, "../..");
const PROCESSES = ["api", "jobs", "catalog-sync"] as const;
type ProcessName = (typeof PROCESSES)[number];

interface Running {
  service: ServiceProcess;
  /** The process's URL on METRICS_PORT. */
  url: string;
}

/** A metric as a document describes it. */
interface Metric {
  labels: string[];
  processes: string[];
  help: string;
}

let db: TestDatabase;
let directory: string;
/** The API's URL on PORT. */
let apiUrl: string;
const running = new Map<ProcessName, Running>();

function environment(): Record<string, string> {
  return {
    DATABASE_URL: db.url,
    // This URL does not lead to a replica, and the metrics report that.
    DATABASE_REPLICA_URL: db.url,
    DATA_DIR: directory,
    CATALOG_SOURCE: "bundled",
    PORT: "0",
    METRICS_PORT: "0",
  };
}

beforeAll(async () => {
  db = await openTestDatabase();
  directory = await mkdtemp(join(tmpdir(), "ulr-monitoring-"));
  for (const name of PROCESSES) {
    const service = spawnService(name, environment());
    const { port } = await untilLogged(service, "serving metrics");
    running.set(name, { service, url: `http://127.0.0.1:${port}` });
    if (name === "api") {
      apiUrl = `http://127.0.0.1:${(await untilLogged(service, "listening"))["port"]}`;
    }
  }
  // On a busy machine, a starting process may close a connection that it has not served within ten seconds.
  for (const name of PROCESSES) {
    await waitFor(async () => (await fetch(`${urlOf(name)}/health/ready`).catch(() => null))?.ok);
  }
});

afterAll(async () => {
  for (const { service } of running.values()) await service[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

function urlOf(name: ProcessName): string {
  return running.get(name)?.url ?? "";
}

/** Scrapes a process. For the API, waits for the metrics from the database, which may be late on a busy machine. */
async function scrape(name: ProcessName): Promise<string> {
  return waitFor(async () => {
    const text = await (await fetch(`${urlOf(name)}/metrics`)).text();
    return name !== "api" || text.includes("\njob_queue_depth{") ? text : null;
  });
}

/** Reads the metrics of all processes. `process_*` counts as one metric. */
async function readMetrics(): Promise<Map<string, Metric>> {
  const metrics = new Map<string, Metric>();
  for (const name of PROCESSES) {
    const text = await scrape(name);
    for (const [, metric = "", help = ""] of text.matchAll(/^# HELP (\S+) (.+)$/gm)) {
      const key = metric.startsWith("process_") ? "process_*" : metric;
      const samples = text.matchAll(new RegExp(`^${metric}(?:_bucket|_count|_sum)?\\{(.+)\\} `, "gm"));
      const labels = [...samples].flatMap(([, list = ""]) =>
        [...list.matchAll(/(\w+)="/g)].map(([, label = ""]) => label),
      );
      const known = metrics.get(key) ?? { labels: [], processes: [], help };
      metrics.set(key, {
        labels: [...new Set([...known.labels, ...labels])].filter((label) => label !== "le"),
        processes: [...new Set([...known.processes, name])],
        help,
      });
    }
  }
  return metrics;
}

describe("with METRICS_PORT", () => {
  test("every process serves metrics, liveness and readiness on METRICS_PORT, and nothing else", async () => {
    for (const name of PROCESSES) {
      const statuses: unknown[] = [];
      for (const [method, path] of [
        ["GET", "/metrics"],
        ["HEAD", "/metrics"],
        ["GET", "/health/live"],
        ["GET", "/health/ready"],
        ["POST", "/metrics"],
        ["DELETE", "/health/ready"],
        ["GET", "/"],
        ["GET", "/api/v1/models"],
        ["GET", "/constructor"],
      ]) {
        const port = Number(new URL(urlOf(name)).port);
        // On a busy machine, the database may respond to the readiness check too late.
        const { response, raw } = await waitFor(async () => {
          const response = await fetch(`${urlOf(name)}${path}`, { method: method ?? "" });
          const [, raw] = (await sendRaw(port, `${method} ${path} HTTP/1.0\r\n\r\n`)).split(" ");
          return response.status === 503 || raw === "503" ? null : { response, raw };
        });
        expect([path, raw]).toEqual([path, String(response.status)]);
        statuses.push([method, path, response.status, response.headers.get("server")]);
      }
      expect([name, statuses]).toEqual([
        name,
        [
          ["GET", "/metrics", 200, null],
          ["HEAD", "/metrics", 200, null],
          ["GET", "/health/live", 200, null],
          ["GET", "/health/ready", 200, null],
          ["POST", "/metrics", 405, null],
          ["DELETE", "/health/ready", 405, null],
          ["GET", "/", 404, null],
          ["GET", "/api/v1/models", 404, null],
          ["GET", "/constructor", 404, null],
        ],
      ]);
    }
  });

  test("PORT serves health checks but no metrics", async () => {
    const metrics = await fetch(`${apiUrl}/metrics`);
    expect([metrics.status, await metrics.json()]).toMatchObject([404, { error: { code: "NOT_FOUND" } }]);
    expect((await fetch(`${apiUrl}/health/ready`)).status).toBe(200);
    const document = (await (await fetch(`${apiUrl}/swagger/json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).not.toContain("/metrics");
  });

  test("a process exits with a one-line error if the metrics port is in use", async () => {
    for (const name of PROCESSES) {
      const port = new URL(urlOf("api")).port;
      await using second = spawnService(name, { ...environment(), METRICS_PORT: port });
      expect([await second.exited, second.problems()]).toEqual([
        1,
        `Cannot listen on 127.0.0.1:${port}: the port is taken\n`,
      ]);
    }
  });

  test("clients that send no request or read no response do not block scrapers", async () => {
    const { port } = new URL(urlOf("api"));
    const open = () => Bun.connect({ hostname: "127.0.0.1", port: Number(port), socket: { data() {} } });
    const silent = await Promise.all(Array.from({ length: 200 }, open));
    for (const socket of silent.slice(100)) {
      socket.pause();
      socket.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(50));
    }
    expect(await scrape("api")).toContain("\njob_runners 1\n");
    for (const socket of silent) socket.terminate();
  });

  test("a stopped job runner is no longer counted", async () => {
    await using second = spawnService("jobs", environment());
    await untilLogged(second, "working");
    await waitFor(async () => (await scrape("api")).includes("\njob_runners 2\n"));
    second.kill("SIGTERM");
    await second.exited;
    await waitFor(async () => (await scrape("api")).includes("\njob_runners 1\n"));
  });
});

/** Returns the metric names in a PromQL expression, without functions, keywords, labels and strings. */
function metricsOf(expr: string): string[] {
  const bare = expr
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, "")
    .replaceAll(/\{[^}]*\}/g, "")
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, "");
  const names = [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w|\s*\()/g)].map(([name]) => name);
  return names.filter((name) => !/^(?:and|or|unless|bool|offset|up|absent)$/.test(name));
}

/** Reads the full names of all processes' time series. */
async function readSeries(): Promise<Set<string>> {
  const text = (await Promise.all(PROCESSES.map(scrape))).join("\n");
  const described = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return new Set(described);
}

async function readExpressions(): Promise<{ rules: string[]; panels: string[] }> {
  const alerts = Bun.YAML.parse(await Bun.file(join(ROOT, "deploy/alerts.yml")).text()) as {
    groups: { rules: { expr: string }[] }[];
  };
  const dashboard = (await Bun.file(join(ROOT, "deploy/grafana-dashboard.json")).json()) as {
    panels: { targets: { expr: string }[] }[];
  };
  return {
    rules: alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    panels: dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  };
}

/** Time series of node_exporter and blackbox_exporter. */
const EXPORTED_BY_OTHERS = [
  "node_filesystem_avail_bytes",
  "node_filesystem_size_bytes",
  "probe_ssl_earliest_cert_expiry",
  "probe_success",
];

describe("the shipped alert rules and dashboard", () => {
  test("refer only to time series of ulr's processes, node_exporter and blackbox_exporter", async () => {
    const series = await readSeries();
    const { rules, panels } = await readExpressions();
    const named = [...rules, ...panels].flatMap((expr) => metricsOf(expr));
    expect(named.length).toBeGreaterThan(40);
    const missing = [...new Set(named)].filter((name) => !series.has(name));
    expect(missing.sort()).toEqual(EXPORTED_BY_OTHERS);
  });

  test("every alert has a summary and a runbook, and is listed in docs/monitoring.md", async () => {
    const { groups } = Bun.YAML.parse(await Bun.file(join(ROOT, "deploy/alerts.yml")).text()) as {
      groups: { rules: { alert: string; annotations: Record<string, string> }[] }[];
    };
    const alerts = groups.flatMap(({ rules }) => rules);
    expect(alerts.filter(({ annotations }) => !annotations["summary"] || !annotations["runbook"])).toEqual(
      [],
    );
    const document = await Bun.file(join(ROOT, "docs/monitoring.md")).text();
    const described = [...document.matchAll(/^\| `(Ulr\w+)` \|/gm)].map(([, name]) => name);
    expect(described).toEqual(alerts.map(({ alert }) => alert));
  });
});

test("docs/monitoring.md lists exactly the metrics that processes serve, with labels, processes and help texts", async () => {
  // These labels exist only after a request, a build or an export. The label `node` exists only on a cluster.
  const LATER: Readonly<Record<string, string[]>> = {
    export_bytes_total: ["kind", "format"],
    export_rows_total: ["kind", "format"],
    export_snapshots_total: ["database", "node"],
    export_jobs_finished_last_day: ["result"],
    export_job_duration_seconds: ["result", "quantile"],
  };
  await fetch(`${apiUrl}/api/v1/models`);
  // Waits until the API has measured the request.
  await waitFor(async () =>
    (await scrape("api")).includes('http_request_duration_seconds_count{method="GET"'),
  );
  const document = await Bun.file(join(ROOT, "docs/monitoring.md")).text();
  const rows = document.matchAll(/^\| `([a-z_*]+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$/gm);
  const documented = [...rows].map(([, name = "", labels = "", processes = "", help = ""]) =>
    [name, labels.replaceAll("`", "").trim(), processes.trim(), name === "process_*" ? "" : help.trim()].join(
      " | ",
    ),
  );
  const served = [...(await readMetrics())].map(([name, { labels, processes, help }]) =>
    [
      name,
      (LATER[name] ?? labels).join(", "),
      processes.length === PROCESSES.length ? "all" : processes.join(", "),
      name === "process_*" ? "" : help,
    ].join(" | "),
  );
  expect(documented.sort()).toEqual(served.sort());
});

test("docs/monitoring.md lists every log field written for a startup, a request and a sync", async () => {
  await fetch(`${apiUrl}/api/v1/models`);
  await fetch(`${apiUrl}/api/v1/missing`, { headers: { "X-Request-Id": "mine" } });
  const listLines = () => [...running.values()].flatMap(({ service }) => service.logLines());
  const listFields = () => new Set(listLines().flatMap((line) => Object.keys(line)));
  await waitFor(() => ["ownRequestId", "counts", "nextRun"].every((name) => listFields().has(name)));
  const document = await Bun.file(join(ROOT, "docs/monitoring.md")).text();
  const [, section = ""] = document.split("\n## Log lines\n");
  const rows = [...section.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, names = ""]) => names).join();
  const documented = new Set([...rows.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
  expect([...listFields()].filter((name) => !documented.has(name))).toEqual([]);
});
