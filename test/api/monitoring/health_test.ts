import { describe, expect, test } from "bun:test";
import { mkdir, rename } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { jobOf, postJob } from "../../helpers/exports/export_job.ts";
import { AFTER_ALL, exportDataset, makeExportProject } from "../../helpers/exports/export_project.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../../helpers/exports/foreign_tracker.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";
import { waitFor } from "../../helpers/wait_for.ts";

describe("GET /health/live", () => {
  test("responds even if the database cannot be reached", async () => {
    await using api = await openTestApp();
    await api.deps.sql.end();
    const response = await api.request("/health/live");
    expect([response.status, await response.json()]).toEqual([200, { data: { status: "live" } }]);
  });
});

describe("GET /health/ready", () => {
  test("returns 200 if the database responds and has all migrations", async () => {
    await using api = await openTestApp();
    const response = await api.request("/health/ready");
    expect([response.status, await response.json()]).toEqual([200, { data: { status: "ready" } }]);
  });

  test("returns 503 while a migration is pending, and 200 afterwards", async () => {
    await using api = await openTestApp();
    const [taken] = await api.db.owner<{ name: string; checksum: string }[]>`
      delete from schema_migrations where name = (select max(name) from schema_migrations)
      returning name, checksum`;
    if (!taken) throw new Error("Cannot take a migration away: none is recorded");
    const refused = await api.request("/health/ready");
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      error: { code: "SERVICE_UNAVAILABLE", details: { checks: { database: "ok", migrations: "pending" } } },
    });
    await api.db
      .owner`insert into schema_migrations (name, checksum) values (${taken.name}, ${taken.checksum})`;
    await waitFor(async () => (await api.request("/health/ready")).status === 200);
  });

  test("queries the database once for all probes within a second", async () => {
    await using api = await openTestApp();
    const probe = async () => (await api.request("/health/ready")).status;
    expect(await Promise.all(Array.from({ length: 50 }, probe))).toEqual(Array(50).fill(200));
    // The result of the earlier check is still cached.
    await api.deps.sql.end();
    expect(await probe()).toBe(200);
    await waitFor(async () => (await probe()) === 503);
  });

  test("returns 503 and names the database if it is down", async () => {
    await using api = await openTestApp();
    await api.deps.sql.end();
    const response = await api.request("/health/ready");
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    const { error } = (await response.json()) as { error: object };
    expect(error).toMatchObject({ details: { checks: { database: "down" } } });
  });

  test("reports a missing tracker schema but returns 200, because only exports fail", async () => {
    await using api = await openTestApp({ config: { trackerSchema: FOREIGN_SCHEMA } });
    const made = await makeExportProject(api);
    await moveToForeignTracker(api.db.owner);
    const exported = async () => {
      const response = await exportDataset(api, made, "issues", `?as_of=${AFTER_ALL}`);
      await response.text();
      return response.status;
    };
    expect(await exported()).toBe(200);
    await api.db.owner.unsafe(`alter schema ${FOREIGN_SCHEMA} rename to elsewhere`);
    const shows = async (data: object) =>
      Bun.deepEquals(await (await api.request("/health/ready")).json(), { data });
    await waitFor(() => shows({ status: "ready", tracker: "missing" }));
    expect((await api.request("/health/ready")).status).toBe(200);
    expect(await exported()).toBe(503);
    await api.db.owner.unsafe(`alter schema elsewhere rename to ${FOREIGN_SCHEMA}`);
    await waitFor(() => shows({ status: "ready" }));
    expect(await exported()).toBe(200);
  });

  test("returns 503 during shutdown", async () => {
    await using api = await openTestApp();
    api.leave();
    const response = await api.request("/health/ready");
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { details: { checks: { process: "leaving" } } } });
  });
});

describe("the artifact store", () => {
  test("is reported if it cannot be read, but the process stays ready", async () => {
    await using api = await openTestApp();
    await Bun.write(fileURLToPath(api.deps.config.artifactUrl), "a file where the directory should be");
    await waitFor(async () => {
      const response = await api.request("/health/ready");
      expect(response.status).toBe(200);
      return Bun.deepEquals(await response.json(), { data: { status: "ready", artifacts: "unreachable" } });
    });
    expect(await (await api.request("/metrics")).text()).toMatch(/^artifact_store_owned NaN$/im);
  });

  test("is reported as unreachable if it is empty although exports should be in it", async () => {
    await using api = await openTestApp();
    const { person } = await makeExportProject(api);
    const { id } = await jobOf(await postJob(api, person));
    await using runner = await openTestRunner(api);
    await runner.build(id);
    const directory = fileURLToPath(api.deps.config.artifactUrl);
    await rename(directory, `${directory}-away`);
    await mkdir(directory);
    await waitFor(async () =>
      Bun.deepEquals(await (await api.request("/health/ready")).json(), {
        data: { status: "ready", artifacts: "unreachable" },
      }),
    );
    expect(await (await api.request("/metrics")).text()).toMatch(/^artifact_store_owned NaN$/im);
    expect(JSON.stringify(api.logLines)).toContain(
      "it is empty, although exports are kept: mount its volume",
    );
  });

  test("does not delay probes if it does not respond", async () => {
    using silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const endpoint = `http://127.0.0.1:${silent.port}`;
    const keys = { accessKeyId: "key", secretAccessKey: "secret", sessionToken: null };
    const s3 = { endpoint, region: "us-east-1", credentials: { type: "static" as const, ...keys } };
    await using api = await openTestApp({ config: { artifactUrl: "s3://bucket/exports", s3 } });
    const probe = async () => (await api.request("/health/ready")).json();
    // The check of the store has not finished, so the response says nothing about the store.
    expect(await probe()).toEqual({ data: { status: "ready" } });
    await waitFor(async () =>
      Bun.deepEquals(await probe(), { data: { status: "ready", artifacts: "unreachable" } }),
    );
  });

  test("is ready and counts as owned before the first job runner starts", async () => {
    await using api = await openTestApp();
    expect(await (await api.request("/health/ready")).json()).toEqual({ data: { status: "ready" } });
    expect(await (await api.request("/metrics")).text()).toMatch(/^artifact_store_owned 1$/m);
  });
});
