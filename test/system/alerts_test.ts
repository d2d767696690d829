/** Prometheus's own tool checks the shipped alerts and the expressions of the shipped dashboard. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/process/command.ts";

const ROOT = join(import.meta.dir, "../..");
const ALERTS = join(ROOT, "deploy/alerts.yml");

/** Values by time series, in promtool's notation. */
type Series = Readonly<Record<string, string>>;

interface AlertCase {
  after: string;
  fires: Series;
  silent: Series;
}

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ulr-alerts-"));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs promtool and returns its output. Fails if promtool does. */
async function promtool(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(["promtool", ...args]);
  expect([exitCode, exitCode === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
  return stdout;
}

/** Returns a promtool test: the alert fires for one group of labels, or has not fired for any group at any minute. */
function toTest(name: string, series: Series, { after, firing }: { after: string; firing: 0 | 1 }) {
  const alerts = `ALERTS{alertname="${name}",alertstate="firing"}`;
  return {
    name: `${name}: ${firing ? "fires" : "is silent"}`,
    interval: "1m",
    input_series: Object.entries(series).map(([labels, values]) => ({ series: labels, values })),
    promql_expr_test: [
      {
        expr: `count(${firing ? alerts : `count_over_time(${alerts}[7d])`}) or vector(0)`,
        eval_time: after,
        exp_samples: [{ labels: "{}", value: firing }],
      },
    ],
  };
}

test("promtool accepts the rules, the dashboard's expressions and the configuration in docs/monitoring.md", async () => {
  const dashboard = (await Bun.file(join(ROOT, "deploy/grafana-dashboard.json")).json()) as {
    panels: { targets: { expr: string }[] }[];
  };
  const panels = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const rules = panels.map((expr, index) => ({ record: `panel_${index}`, expr }));
  const panelsPath = join(directory, "panels.json");
  await Bun.write(panelsPath, JSON.stringify({ groups: [{ name: "panels", rules }] }));
  await promtool("check", "rules", ALERTS, panelsPath);
  const document = await Bun.file(join(ROOT, "docs/monitoring.md")).text();
  const [, configuration = ""] = /^```yaml\n(scrape_configs:.*?)^```$/ms.exec(document) ?? [];
  expect(configuration).toContain("alerts.yml");
  const configurationPath = join(directory, "prometheus.yml");
  await Bun.write(configurationPath, configuration.replace("[alerts.yml]", `[${ALERTS}]`));
  await promtool("check", "config", configurationPath);
  // The target's alerts name the URL that was probed, not the exporter.
  const [target] = JSON.parse(
    await promtool("check", "service-discovery", "--timeout=1s", configurationPath, "ulr-https"),
  );
  expect(target.labels).toMatchObject({
    __address__: "blackbox.internal:9115",
    __param_target: "https://ulr.example.com/api/v1/models/providers",
    instance: "https://ulr.example.com/api/v1/models/providers",
  });
});

test("every alert fires when its condition is met, and stays silent when the condition is narrowly missed", async () => {
  const cases = Bun.YAML.parse(await Bun.file(join(ROOT, "test/fixtures/alert_cases.yml")).text()) as Record<
    string,
    AlertCase
  >;
  const { groups } = Bun.YAML.parse(await Bun.file(ALERTS).text()) as {
    groups: { rules: { alert: string }[] }[];
  };
  const shipped = groups.flatMap(({ rules }) => rules);
  expect(Object.keys(cases).sort()).toEqual(shipped.map(({ alert }) => alert).sort());
  // Each case gets a file with only its own rule, because promtool evaluates every rule of a file for every minute of every
  // test.
  const paths = Object.entries(cases).map(async ([name, { after, fires, silent }]) => {
    const [rulePath, path] = [join(directory, `${name}_rule.json`), join(directory, `${name}.json`)];
    const rules = shipped.filter(({ alert }) => alert === name);
    await Bun.write(rulePath, JSON.stringify({ groups: [{ name, rules }] }));
    const tests = [toTest(name, fires, { after, firing: 1 }), toTest(name, silent, { after, firing: 0 })];
    await Bun.write(path, JSON.stringify({ rule_files: [rulePath], evaluation_interval: "1m", tests }));
    return path;
  });
  await promtool("test", "rules", ...(await Promise.all(paths)));
});

test("an idle service raises no alert, and a firing alert has the labels and annotations of its rule", async () => {
  const text = await Bun.file(join(ROOT, "test/fixtures/alerts_test.yml")).text();
  const path = join(directory, "alerts_test.yml");
  await Bun.write(path, text.replace("rule_files: [ALERTS]", `rule_files: [${ALERTS}]`));
  await promtool("test", "rules", path);
});
