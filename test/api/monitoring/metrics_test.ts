import { describe, expect, test } from "bun:test";
import { Gauge } from "prom-client";
import { openTestApp } from "../../helpers/http/app.ts";
import { waitFor } from "../../helpers/wait_for.ts";

describe("GET /metrics", () => {
  test("collects metrics once for all scrapes within a second", async () => {
    await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 100_000 } });
    let collected = 0;
    new Gauge({
      name: "times_collected",
      help: "Of this test",
      registers: [api.deps.metrics.registry],
      collect() {
        collected += 1;
        this.set(collected);
      },
    });
    const scrape = async () => {
      const response = await api.request("/metrics");
      return (await response.text()).match(/^times_collected \d+/m)?.[0];
    };
    const texts = await Promise.all(Array.from({ length: 20 }, scrape));
    expect(new Set(texts)).toEqual(new Set(["times_collected 1"]));
    expect(collected).toBe(1);
    await waitFor(async () => (await scrape()) === "times_collected 2");
  });

  test("counts requests by method, route pattern and status", async () => {
    await using api = await openTestApp();
    await api.request("/api/v1/export/projects/one/issues");
    await api.request("/api/v1/export/projects/two/issues/");
    await api.request("/api/v1/no/such/path");
    const response = await api.request("/metrics");
    expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const lines = (await response.text()).split("\n");
    const pattern = "/api/v1/export/projects/:project/:dataset";
    expect(lines).toContain(
      `http_request_duration_seconds_count{method="GET",route="${pattern}",status="401"} 2`,
    );
    expect(lines).toContain(`http_request_duration_seconds_count{method="GET",route="none",status="404"} 1`);
  });
});
