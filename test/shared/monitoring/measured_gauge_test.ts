import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import {
  type Measurement,
  registerGauge,
  registerMeasuredGauges,
} from "../../../shared/monitoring/measured_gauge.ts";
import { createLog } from "../../../shared/process/log.ts";

function createGauges(read: () => Promise<readonly Measurement<"kind">[]>) {
  const registry = new Registry();
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    process: "test",
    destination: { write: (line) => lines.push(line) },
  });
  registerMeasuredGauges<"kind">(
    { registry, log },
    [
      { name: "plain", help: "Without labels" },
      { name: "labeled", help: "With a label", labelNames: ["kind"] },
    ],
    read,
  );
  return { scrape: () => scrapeAll(registry), lines };
}

async function scrapeAll(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

test("registerGauge() calls a sync or async `read` at each scrape and keeps only the last samples", async () => {
  const registry = new Registry();
  let reads = 0;
  registerGauge(registry, { name: "plain", help: "Without labels", read: () => ++reads });
  registerGauge(registry, { name: "awaited", help: "Without labels", read: async () => 10 * reads });
  registerGauge(registry, {
    name: "labeled",
    help: "With a label",
    labelNames: ["kind"],
    read: () => [{ labels: { kind: `k${reads}` }, value: reads }],
  });
  expect(await scrapeAll(registry)).toEqual(["plain 1", "awaited 10", 'labeled{kind="k1"} 1']);
  expect(await scrapeAll(registry)).toEqual(["plain 2", "awaited 20", 'labeled{kind="k2"} 2']);
});

test("a single read sets all gauges and removes samples from earlier reads", async () => {
  let reads = 0;
  const { scrape } = createGauges(async () => {
    reads += 1;
    return [reads, [{ labels: { kind: `k${reads}` }, value: reads }]];
  });
  expect(await scrape()).toEqual(["plain 1", 'labeled{kind="k1"} 1']);
  expect(await scrape()).toEqual(["plain 2", 'labeled{kind="k2"} 2']);
});

test("a failed read leaves no samples, and the error is logged once per gauge", async () => {
  let isDown = false;
  const { scrape, lines } = createGauges(async () => {
    if (isDown) throw new Error("the database is down");
    return [7, [{ labels: { kind: "a" }, value: 7 }]];
  });
  expect(await scrape()).toEqual(["plain 7", 'labeled{kind="a"} 7']);
  isDown = true;
  expect(await scrape()).toEqual([]);
  expect(lines.filter((line) => line.includes("the database is down"))).toHaveLength(2);
});

test("a hanging read is not started again by the next scrape, and its gauges have no samples", async () => {
  let reads = 0;
  const { promise, resolve } = Promise.withResolvers<readonly Measurement<"kind">[]>();
  const { scrape } = createGauges(() => {
    reads += 1;
    return promise;
  });
  expect(await scrape()).toEqual([]);
  expect(await scrape()).toEqual([]);
  expect(reads).toBe(1);
  resolve([1, []]);
  await promise;
});
