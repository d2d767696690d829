/** Interruptions of an export during a COPY. Every session ends its transaction, and no connection is lost. */
import { expect, test } from "bun:test";
import type { ArtifactStore } from "../../shared/artifacts/store.ts";
import { streamZip, type ZipEntry } from "../../shared/exports/zip_stream.ts";
import type { Config } from "../../shared/process/config.ts";
import { EXPORT_APPLICATION } from "../../sql/connection/application_names.ts";
import { openPool } from "../../sql/connection/pool.ts";
import { openExportSnapshot } from "../../sql/connection/snapshot.ts";
import { copyRows } from "../../sql/exports/copy_rows.ts";
import { FORMATS } from "../../sql/exports/dataset_file.ts";
import { getJob, jobOf, listMismatches, postJob } from "../helpers/exports/export_job.ts";
import { addNoise } from "../helpers/exports/heavy_org.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { makeWideProject } from "../helpers/exports/wide_project.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { openListeningApp } from "../helpers/http/listening_app.ts";
import { startS3Server } from "../helpers/network/s3_server.ts";
import { openSlowProxy } from "../helpers/network/slow_proxy.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import {
  listOpenTransactions,
  takeEveryConnection,
  untilNoneIsOpen,
} from "../helpers/postgres/open_transactions.ts";
import { openTestRunner, type TestRunner } from "../helpers/process/job_runner.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** More than a build buffers between its COPY and its store, in MiB. */
const BUILD_MIB = 16;
/** More than two row groups of Parquet and the socket buffers on both sides, in MiB. */
const NOISE_MIB = 56;
/** The time limit of a build in minutes. It expires during the build's COPY. */
const SHORT_BUILD_MINUTES = 0.05;

type Content = Parameters<ArtifactStore["write"]>[1];
/** Called during a build, after its first chunk was stored. */
type InTheMiddle = (given: { content: Content; runner: TestRunner }) => Promise<void>;

interface End {
  act: InTheMiddle;
  config?: Partial<Config>;
  /** The job's expected state after the interruption. */
  job: object;
}

/** Keeps a reference to the pending promise, which would otherwise be garbage-collected. */
const silence = Promise.withResolvers<void>();
const hang: InTheMiddle = () => silence.promise;
const LEFT = { status: "queued", attempt: 0 };
const FAILED_ONCE = { status: "queued", attempt: 1 };
const TIMED_OUT = { status: "failed", errorCode: "BUILD_TIMEOUT" };

/** Builds a file that is larger than all buffers, and interrupts the build with `end`. */
async function buildCutOff(end: End): Promise<void> {
  await using app = await openTestApp();
  const person = await app.make.person();
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  await addNoise(app.db, project, BUILD_MIB);
  const { id } = await jobOf(await postJob(app, person));
  const cell: { runner?: TestRunner } = {};
  await using runner = await openTestRunner(app, {
    ...(end.config ? { config: end.config } : {}),
    store: (store) => ({
      ...store,
      async write(key, content) {
        async function* cutOff(): Content {
          const first = await content.next();
          if (first.value) yield first.value;
          if (cell.runner) await end.act({ content, runner: cell.runner });
          yield* content;
        }
        return store.write(key, cutOff());
      },
    }),
  });
  cell.runner = runner;
  await runner.build(id).catch(() => {});
  await untilNoneIsOpen(app.db);
  expect(await getJob(app, person.key, id)).toMatchObject(end.job);
  expect(await listMismatches(app)).toEqual([]);
  await takeEveryConnection(runner.deps.exportSql);
}

test("a build ends its COPY if the artifact store throws", () =>
  buildCutOff({
    async act() {
      throw new Error("the disk is on fire");
    },
    job: FAILED_ONCE,
  }));

test("a build ends its COPY if the artifact store stops reading and throws", () =>
  buildCutOff({
    async act({ content }) {
      await content.return();
      throw new Error("the disk is on fire");
    },
    job: FAILED_ONCE,
  }));

test("a build ends its COPY if a slow artifact store exceeds the build's time limit", () =>
  buildCutOff({
    async act({ content }) {
      // One chunk a second. The build times out long before the last chunk.
      for (const _ of Array(8)) await Promise.all([content.next(), Bun.sleep(1000)]);
    },
    config: { exportBuildTimeoutMinutes: SHORT_BUILD_MINUTES },
    job: TIMED_OUT,
  }));

test("a build ends its COPY at the time limit if the artifact store hangs", () =>
  buildCutOff({ act: hang, config: { exportBuildTimeoutMinutes: SHORT_BUILD_MINUTES }, job: TIMED_OUT }));

test("a build ends its COPY on shutdown of the runner if the artifact store hangs", () =>
  buildCutOff({
    act(given) {
      given.runner.leave();
      return hang(given);
    },
    job: LEFT,
  }));

test("a build ends its COPY if the bucket becomes unreachable", async () => {
  await using s3 = await startS3Server();
  await buildCutOff({
    act: () => s3.kill(),
    config: s3.config,
    job: { ...LEFT, waitingFor: "storage" },
  });
});

test("a build ends its COPY at the time limit if the bucket stops responding", async () => {
  await using s3 = await startS3Server();
  await using proxy = await openSlowProxy(s3.config.s3.endpoint);
  const s3Config = { ...s3.config.s3, endpoint: proxy.origin };
  await buildCutOff({
    async act() {
      void proxy.hold(new Promise(() => {}));
    },
    config: { ...s3.config, s3: s3Config, exportBuildTimeoutMinutes: SHORT_BUILD_MINUTES },
    job: TIMED_OUT,
  });
});

test("a failing ZIP stream ends its current COPY before the snapshot is closed", async () => {
  await using db = await openTestDatabase();
  const pool = openPool(db.url, { applicationName: EXPORT_APPLICATION, max: 1, readOnly: true });
  const signal = new AbortController().signal;
  const snapshot = await openExportSnapshot(pool, { control: db.sql, signal });
  async function* broken(): Content {
    const query = "select to_json(repeat('x', 1000)) from generate_series(1, 100000)";
    for await (const chunk of copyRows(snapshot, query, FORMATS.ndjson.copy([]))) {
      yield chunk;
      yield { length: "no number" } as unknown as Uint8Array;
    }
  }
  async function* entries(): AsyncGenerator<ZipEntry, void, void> {
    try {
      yield { name: "a", content: broken() };
    } finally {
      await snapshot.close();
    }
  }
  const zip = Array.fromAsync(streamZip(entries(), { modifiedAt: "2026-01-01T00:00:00.000Z" }));
  expect(await zip.catch((error: unknown) => error)).toBeInstanceOf(Error);
  await untilNoneIsOpen(db);
  await takeEveryConnection(pool);
  await pool.end();
});

const FORMS: readonly (readonly [path: string, headers: Readonly<Record<string, string>>])[] = [
  ["issues", {}],
  ["issues?format=csv", {}],
  ["issues", { "accept-encoding": "gzip" }],
  ["issues", { "accept-encoding": "zstd" }],
  ["bundle", {}],
  ["bundle?format=csv", {}],
  ["runs?format=parquet", {}],
  ["bundle?format=parquet", {}],
];

test("when a client disconnects from a download of any format, the COPY ends and all connections return to the pool", async () => {
  await using server = await openListeningApp({ config: { exportStreamsMax: 2 } });
  const { app, origin } = server;
  const { person, project } = await makeWideProject(app);
  await addNoise(app.db, project, NOISE_MIB);
  for (const [path, headers] of FORMS) {
    {
      using _download = await beginDownload(`${origin}/api/v1/export/projects/${project.id}/${path}`, {
        authorization: `Bearer ${person.key}`,
        ...headers,
      });
      await waitFor(async () => (await listOpenTransactions(app.db)).length > 0);
    }
    await untilNoneIsOpen(app.db);
    await takeEveryConnection(app.deps.exportSql);
  }
});
