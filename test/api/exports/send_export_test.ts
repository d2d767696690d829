import { expect, test } from "bun:test";
import { errorOf, postJob } from "../../helpers/exports/export_job.ts";
import { AFTER_ALL, exportDataset, makeExportProject } from "../../helpers/exports/export_project.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../../helpers/exports/foreign_tracker.ts";
import { openTestApp, testRequest } from "../../helpers/http/app.ts";

const RENAME = `alter schema ${FOREIGN_SCHEMA} rename to elsewhere`;

async function expectMissing(response: Response): Promise<void> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect([response.status, error.code, response.headers.get("retry-after")]).toEqual([
    503,
    "SERVICE_UNAVAILABLE",
    "5",
  ]);
  expect(error.message).toContain("The tracker's tables cannot be read");
}

test("exports report a missing tracker and work again once the tracker is back", async () => {
  await using app = await openTestApp({ config: { trackerSchema: FOREIGN_SCHEMA } });
  const made = await makeExportProject(app);
  const { owner } = app.db;
  await moveToForeignTracker(owner);
  const query = `?as_of=${AFTER_ALL}`;
  const losses: readonly (readonly [lose: string, restore: string])[] = [
    [RENAME, `alter schema elsewhere rename to ${FOREIGN_SCHEMA}`],
    [
      `alter view ${FOREIGN_SCHEMA}.runs rename to elsewhere`,
      `alter view ${FOREIGN_SCHEMA}.elsewhere rename to runs`,
    ],
    [
      `revoke usage on schema ${FOREIGN_SCHEMA} from ulr_app`,
      `grant usage on schema ${FOREIGN_SCHEMA} to ulr_app`,
    ],
  ];
  for (const [lose, restore] of losses) {
    await owner.unsafe(lose);
    for (const path of ["runs", "bundle", "estimate"] as const) {
      await expectMissing(await exportDataset(app, made, path, query));
    }
    await owner.unsafe(restore);
    const restored = await exportDataset(app, made, "runs", query);
    expect([restored.status, (await restored.text()).length > 0]).toEqual([200, true]);
  }
});

test("a job is not queued while the tracker is missing", async () => {
  await using app = await openTestApp({ config: { trackerSchema: FOREIGN_SCHEMA } });
  const { person } = await makeExportProject(app);
  await moveToForeignTracker(app.db.owner);
  await app.db.owner.unsafe(RENAME);
  await expectMissing(await postJob(app, person));
});

test("an export returns 504 if counting its rows exceeds its time limit", async () => {
  await using app = await openTestApp({ streamRules: { maxMs: 300 } });
  const made = await makeExportProject(app);
  const path = `/api/v1/export/projects/${made.project.id}/issues?as_of=${AFTER_ALL}`;
  const response = await app.db.owner.begin(async (tx) => {
    await tx`lock table issues in access exclusive mode`;
    return { refused: await app.request(path, { key: made.person.key }) };
  });
  expect(await errorOf(response.refused)).toEqual([504, "EXPORT_PREPARE_TIMEOUT"]);
});

test("a client that disconnects while a failed export is being closed does not hide the failure", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const { owner } = app.db;
  await owner`alter table audit_log rename to audit_log_away`;
  const abort = new AbortController();
  app.deps.exportSql.options.debug = (_connection, text) => {
    if (text === "commit") abort.abort();
  };
  const url = `http://localhost/api/v1/export/projects/${made.project.id}/issues?as_of=${AFTER_ALL}`;
  const { headers } = testRequest(url, { key: made.person.key });
  const response = await app.app.handle(new Request(url, { headers, signal: abort.signal }), "192.0.2.1");
  await owner`alter table audit_log_away rename to audit_log`;
  expect([abort.signal.aborted, response.status]).toEqual([true, 500]);
  const { level, err } = app.logLines.find(({ status }) => status === 500) ?? {};
  expect([level, JSON.stringify(err)]).toEqual(["error", expect.stringContaining("audit_log")]);
});
