/** SHUTDOWN_DELAY_SECONDS gives load balancers time to stop sending requests to an API. */
import { expect, test } from "bun:test";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";
import { startApi } from "../../helpers/process/api_process.ts";
import { untilLogged } from "../../helpers/process/service_process.ts";
import { waitFor } from "../../helpers/wait_for.ts";

/** A delay in seconds, longer than any test. An API that exits during a test has not waited for the delay. */
const ENDLESS = "300";

test("after SIGTERM the API is not ready, but serves new connections and closes them after the response", async () => {
  await using db = await openTestDatabase();
  const { key } = await createFactory(db.sql).person();
  await using api = await startApi({ DATABASE_URL: db.url, SHUTDOWN_DELAY_SECONDS: ENDLESS });
  api.kill("SIGTERM");
  await untilLogged(api, "stopping");
  const ready = await api.request("/health/ready");
  expect([ready.status, await ready.json()]).toEqual([
    503,
    expect.objectContaining({
      error: expect.objectContaining({ details: { checks: { process: "leaving" } } }),
    }),
  ]);
  expect((await api.request("/health/live")).status).toBe(200);
  const response = await api.request("/api/v1/export/datasets", { key });
  expect([response.status, response.headers.get("connection")]).toEqual([200, "close"]);
  api.kill("SIGTERM");
  expect(await api.exited).toBe(1);
});

test("the API exits by itself after the delay, and no request fails before that", async () => {
  await using db = await openTestDatabase();
  await using api = await startApi({ DATABASE_URL: db.url, SHUTDOWN_DELAY_SECONDS: "1" });
  api.kill("SIGTERM");
  await untilLogged(api, "stopping");
  const statuses = new Set<number>();
  await waitFor(async () => {
    const response = await api.request("/health/live").catch(() => null);
    if (response) statuses.add(response.status);
    return response === null;
  });
  expect([...statuses]).toEqual([200]);
  expect(await api.exited).toBe(0);
  expect(api.output.stderr).toBe("");
});

test("Ctrl-C skips the delay for load balancers", async () => {
  await using db = await openTestDatabase();
  await using api = await startApi({ DATABASE_URL: db.url, SHUTDOWN_DELAY_SECONDS: ENDLESS });
  api.kill("SIGINT");
  expect(await api.exited).toBe(0);
});
