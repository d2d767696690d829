/** The shipped alerts and the expressions of the shipped dashboard, read by Prometheus's own tool. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/process/command.ts";

const ROOT = join(import.meta.dir, "../..");

test("promtool accepts the rules and the dashboard's expressions, and each alert fires when it should", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-alerts-"));
  try {
    const dashboard = (await Bun.file(join(ROOT, "deploy/grafana-dashboard.json")).json()) as {
      panels: { targets: { expr: string }[] }[];
    };
    const panels = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const rules = panels.map((expr, index) => ({ record: `panel_${index}`, expr }));
    const panelsPath = join(directory, "panels.json");
    await Bun.write(panelsPath, JSON.stringify({ groups: [{ name: "panels", rules }] }));
    const alertsPath = join(ROOT, "deploy/alerts.yml");
    const tests = await Bun.file(join(ROOT, "test/fixtures/alerts_test.yml")).text();
    const testsPath = join(directory, "alerts_test.yml");
    await Bun.write(testsPath, tests.replace("rule_files: [ALERTS]", `rule_files: [${alertsPath}]`));
    for (const args of [
      ["check", "rules", alertsPath, panelsPath],
      ["test", "rules", testsPath],
    ]) {
      const { exitCode, stdout, stderr } = await runCommand(["promtool", ...args]);
      expect([exitCode, exitCode === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 30_000);
