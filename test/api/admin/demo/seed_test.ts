import { expect, test } from "bun:test";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyPassword } from "../../../../api/accounts/password_rules.ts";
import { hashSecret } from "../../../../api/http/credentials.ts";
import { findKeyCaller } from "../../../../sql/accounts/api_keys.ts";
import type { Pool } from "../../../../sql/connection/pool.ts";
import { runCommand, runJson } from "../../../helpers/accounts/admin.ts";
import { ask } from "../../../helpers/definitions/definitions.ts";
import { seedSmallDemo } from "../../../helpers/demo.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";

/** Counts the rows that break a rule. `query` selects these rows. */
async function countOffenders(sql: Pool, query: string): Promise<number> {
  const [row] = await sql.unsafe<[{ count: number }]>(`select count(*) from (${query}) offenders`);
  return row.count;
}

/**
 * Consistency rules of tracker data, each with a query for the rows that break it. Rules that the tables' constraints enforce are
 * omitted.
 */
const RULES: Readonly<Record<string, string>> = {
  "an issue was seen as often as it has occurrences": `
    select i.id from issues i
    left join occurrences o on o.project_id = i.project_id and o.issue_id = i.id
    group by i.project_id, i.id, i.times_seen
    having count(o.id) <> i.times_seen`,
  "first and last run are those of the occurrences": `
    select i.id from issues i
    join occurrences o on o.project_id = i.project_id and o.issue_id = i.id
    join runs r on r.project_id = o.project_id and r.id = o.run_id
    group by i.project_id, i.id, i.first_seen_run_id, i.last_seen_run_id
    having (array_agg(o.run_id order by r.run_number))[1] <> i.first_seen_run_id
      or (array_agg(o.run_id order by r.run_number desc))[1] <> i.last_seen_run_id`,
  "a history ends in the status of its issue": `
    select i.id from issues i
    left join lateral (
      select new_status from status_history h
      where h.project_id = i.project_id and h.issue_id = i.id
      order by seq desc limit 1) h on true
    where coalesce(h.new_status, 'open') <> i.status`,
  "every change begins where the one before ended": `
    select id from (
      select id, old_status,
        lag(new_status) over (partition by project_id, issue_id order by changed_at, seq) as before
      from status_history) h
    where before is not null and before <> old_status`,
  "an undone change names the one it undoes": `
    select u.id from status_history u
    left join status_history c on c.project_id = u.project_id and c.id = u.reverted_change_id
    where u.transition_type = 'undo' and (c.id is null or c.issue_id <> u.issue_id or c.new_status <> u.old_status)`,
  "a run counts its occurrences": `
    select r.id from runs r
    left join occurrences o on o.project_id = r.project_id and o.run_id = r.id
    group by r.project_id, r.id, r.new_issues_count, r.recurring_issues_count, r.regressions_count, r.observed_count
    having count(*) filter (where correlation_status = 'new') <> r.new_issues_count
      or count(*) filter (where correlation_status = 'recurring') <> r.recurring_issues_count
      or count(*) filter (where correlation_status = 'regression') <> r.regressions_count
      or count(*) filter (where correlation_status = 'observed') <> r.observed_count`,
  "a merged issue names one that is not merged": `
    select i.id from issues i
    left join issues t on t.project_id = i.project_id and t.id = i.merged_into_issue_id
    where (i.status = 'merged') <> (t.id is not null) or t.status = 'merged'`,
  "a resolved issue has the time": `
    select id from issues
    where (status in ('completed', 'wontfix', 'false-positive')) <> (resolved_at is not null)`,
  "nothing is later than now or earlier than its parent": `
    select i.id from issues i where greatest(created_at, updated_at, resolved_at, deleted_at) > now()
    union all
    select o.id from occurrences o join issues i on i.project_id = o.project_id and i.id = o.issue_id
    where o.created_at > now() or o.created_at < i.created_at
    union all
    select h.id from status_history h join issues i on i.project_id = h.project_id and i.id = h.issue_id
    where h.changed_at > now() or h.changed_at < i.created_at
    union all
    select id from runs where created_at > now() or archived_at < created_at`,
};

/**
 * Returns row counts and digests of the registry. The digest `texts` covers the definition columns that are the same in every demo.
 * `rows` covers all columns of definitions. `counters` covers all columns of lines.
 */
async function registryDigest(sql: Pool) {
  const [row] = await sql`
    select
      (select count(*) from definitions) as versions,
      (select count(*) from definition_lines) as lines,
      (select count(*) from definition_forks) as forks,
      (select count(*) from definition_executions) as executions,
      (select md5(string_agg(concat_ws(' ', type, name, version, status, visibility, hash, prompt_hash, successor), ','
        order by type, name, org_id, version)) from definitions) as texts,
      (select md5(string_agg(d::text, ',' order by id)) from definitions as d) as rows,
      (select md5(string_agg(l::text, ',' order by id)) from definition_lines as l) as counters`;
  return row ?? {};
}

test("demo seed creates 20,000 plausible issues and working credentials, and does nothing when repeated", async () => {
  await using db = await openTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), "demo-"));
  const file = join(folder, "new", "credentials.txt");
  const seeded = await runCommand(db.url, ["demo", "seed", "--credentials-file", file]);
  expect(seeded.exitCode).toBe(0);
  const text = await readFile(file, "utf8");
  expect(seeded.out).toEndWith(text);
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  const [issues] = await db.sql`
    select count(*), count(deleted_at) as deleted, count(distinct status) as statuses,
      min(created_at) > now() - interval '181 days' and max(created_at) > now() - interval '3 days' as is_recent
    from issues`;
  expect(issues).toMatchObject({ count: 20_000, statuses: 7, isRecent: true });
  expect(Number(issues?.["deleted"])).toBeGreaterThan(50);
  for (const [rule, offenders] of Object.entries(RULES)) {
    expect([rule, await countOffenders(db.sql, offenders)]).toEqual([rule, 0]);
  }
  const [hidden] = await db.sql`
    select
      (select count(*) from runs where archived_at is not null) as runs,
      (select count(*) from analysis_summaries where superseded_at is not null) as summaries,
      (select count(*) from analysis_records where superseded_at is not null) as records,
      (select min(length(record_data::text)) from analysis_records) as smallest,
      (select max(length(record_data::text)) from analysis_records) as largest`;
  expect(
    Math.min(Number(hidden?.["runs"]), Number(hidden?.["summaries"]), Number(hidden?.["records"])),
  ).toBePositive();
  expect([Number(hidden?.["smallest"]) > 1000, Number(hidden?.["largest"]) < 4000]).toEqual([true, true]);

  const keys = text.match(/ulr_[\w-]{49}/g) ?? [];
  const callers = await Promise.all(keys.map((key) => findKeyCaller(db.sql, hashSecret(key))));
  expect(callers.map((caller) => caller && [caller.username, caller.kind, caller.orgId])).toEqual([
    ["demo-owner", "user", null],
    ["demo-publisher", "user", null],
    ["demo-viewer", "user", null],
    ["demo-owner", "automation", null],
    ["demo-platform-admin", "user", null],
    // The suggested first commands contain these two keys again.
    ["demo-viewer", "user", null],
    ["demo-publisher", "user", null],
  ]);
  const password = /Sign in, password\s+(\S+)/.exec(text)?.[1] ?? "";
  const [owner] = await db.sql`select password_hash from users where email = 'owner@demo.example'`;
  expect(await verifyPassword(password, owner?.["passwordHash"])).toBe(true);

  const before = await registryDigest(db.sql);
  expect(before).toMatchObject({ versions: 31, lines: 24, forks: 1 });
  const again = await runCommand(db.url, ["demo", "seed"]);
  expect([again.exitCode, again.out]).toEqual([0, "The demo already exists. Nothing was changed.\n"]);
  const silent = await runCommand(db.url, ["demo", "seed", "--if-empty", "--credentials-file", file]);
  expect(silent).toEqual({ exitCode: 0, out: "", err: "" });
  expect(await readFile(file, "utf8")).toBe(text);
  const [after] = await db.sql`
    select (select count(*) from issues) as issues, (select count(*) from api_keys) as keys`;
  expect(after).toMatchObject({ issues: 20_000, keys: 5 });
  expect(await registryDigest(db.sql)).toEqual(before);
  await rm(folder, { recursive: true });
});

test("demo seed --if-empty does not change a database in use", async () => {
  await using db = await openTestDatabase();
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  expect(await runCommand(db.url, ["demo", "seed", "--if-empty"])).toEqual({ exitCode: 0, out: "", err: "" });
  expect(await runJson(db.url, ["demo", "seed", "--if-empty"])).toEqual({ created: false });
  const [row] = await db.sql`select count(*) from organizations`;
  expect(row?.["count"]).toBe(1);
});

test("demo seed --if-empty does nothing and exits with 0 if TRACKER_SCHEMA names another schema", async () => {
  await using db = await openTestDatabase();
  const words = ["demo", "seed", "--if-empty"];
  expect(await runCommand(db.url, words, { TRACKER_SCHEMA: "acme_exports" })).toEqual({
    exitCode: 0,
    out: 'No demo is loaded: TRACKER_SCHEMA is "acme_exports", so exports would not have its rows.\n',
    err: "",
  });
  const [row] = await db.sql`select count(*) from organizations`;
  expect(row?.["count"]).toBe(0);
});

test("demo seed resumes an interrupted seed", async () => {
  await using db = await openTestDatabase();
  await seedSmallDemo(db.sql);
  // Recreates the state after a killed seed: no registry, two projects without rows, no audit entry and no keys.
  const { versions, lines, forks, texts } = await registryDigest(db.sql);
  await db.owner`truncate definition_lines cascade`;
  const [cut] = await db.sql`
    select array_agg(id) as ids from projects where slug in ('recipe-finder', 'design-system')`;
  for (const table of [
    ...["issue_notes", "status_history", "occurrences", "analysis_records", "analysis_summaries"],
    ...["agent_snapshots", "issues", "runs"],
  ]) {
    await db.sql`delete from ${db.sql(table)} where project_id = any (${cut?.["ids"]}::uuid[])`;
  }
  await db.owner.begin(async (tx) => {
    await tx`alter table audit_log disable trigger user`;
    await tx`delete from audit_log where action = 'demo.seed'`;
    await tx`alter table audit_log enable trigger user`;
  });
  await db.sql`delete from api_keys`;
  const resumed = await seedSmallDemo(db.sql);
  expect(resumed).toMatchObject({ created: true, definitions: 31 });
  expect(await registryDigest(db.sql)).toMatchObject({ versions, lines, forks, texts });
  const [row] = await db.sql`
    select (select count(*) from issues) as issues, (select count(*) from api_keys) as keys,
      (select count(*) from users) as users`;
  expect(row).toMatchObject({ issues: 200, keys: 5, users: 6 });
});

test("demo seed --scale loads every project several times and advances the sequence of status changes", async () => {
  await using db = await openTestDatabase();
  const { projects } = (await seedSmallDemo(db.sql, 3)) as { projects: { name: string; slug: string }[] };
  expect(projects.slice(6, 9).map(({ name, slug }) => [name, slug])).toEqual([
    ["Recipe Finder", "recipe-finder"],
    ["Checkout Service 2", "checkout-service-2"],
    ["Mobile App 2", "mobile-app-2"],
  ]);
  const [row] = await db.sql`
    select
      (select count(*) from issues) as issues,
      (select count(distinct id) from issues) as different,
      (select last_value from status_history_seq_seq) >= (select max(seq) from status_history) as is_behind
    from (values (1)) as one`;
  expect(row).toEqual({ issues: 600, different: 200, isBehind: true });
});

interface Credentials {
  keys: Readonly<Record<"owner" | "viewer" | "publisher", string>>;
}

test("the demo's registry has content for every kind of request", async () => {
  await using api = await openTestApp();
  const { credentials } = (await seedSmallDemo(api.db.sql)) as { credentials: Credentials };
  const outsider = null;
  const member = { key: credentials.keys.viewer, org: { slug: "demo" } };
  const read = async (path: string, as: typeof member | null = outsider) => {
    const response = await ask(api, path, as);
    const { data } = (await response.json()) as { data?: Record<string, never> };
    return data ?? { status: response.status };
  };
  expect(await read("/agent/code-reviewer")).toMatchObject({ version: "1.2.0", status: "published" });
  expect(await read("/agent/code-reviewer@2.0.0", member)).toMatchObject({ status: "draft" });
  expect(await read("/agent/code-reviewer@2.0.0")).toEqual({ status: 404 });
  expect(await read("/agent/incident-scribe")).toMatchObject({ visibility: "unlisted" });
  expect(await read("/agent/rollout-forecaster-lab")).toEqual({ status: 404 });
  expect(await read("/agent/rollout-forecaster-lab", member)).toMatchObject({ visibility: "private" });
  expect(await read("/agent/style-fixer@1.0.0")).toMatchObject({
    status: "deprecated",
    successor: "format-fixer",
  });
  expect(await read("/agent/release-notes-writer@1.0.0")).toMatchObject({ status: "archived" });
  expect(await read("/agent/code-reviewer/forks")).toMatchObject({
    totalForks: 1,
    forks: [{ definition: { name: "recipe-reviewer" } }],
  });
  expect(await read("/pipeline/release-train/dependencies")).toMatchObject({ maxDepth: 3, unresolved: [] });
  expect(await read("/command/review-code/dependents")).toMatchObject({ totalCount: 2 });

  const statistics = await read(
    "/agent/code-reviewer/executions?window=43200&timeBucket=day&include=byTime,bySource,byVersion",
  );
  const { totalCount, byTime, bySource, byVersion } = statistics as Record<string, readonly unknown[]>;
  expect(statistics).toMatchObject({ recentCount: Number(totalCount) });
  expect([byTime?.length, bySource?.length, byVersion?.length]).toEqual([31, 4, 3]);
  expect(await read("/agent/code-reviewer/versions")).toMatchObject({
    versions: [
      { version: "1.2.0", changeType: "minor", changeSummary: "The description lists what is reviewed" },
      { version: "1.1.0", changeSummary: "Added tags for its uses" },
      { version: "1.0.0", changeType: "major", changeSummary: "First version" },
    ],
  });
  expect(await read("/agent/recipe-reviewer")).toMatchObject({ provenance: { dialecticRounds: 3 } });
  for (const authorshipType of ["human", "agent", "collaborative", "automated"]) {
    const { total } = (await read(`?authorshipType=${authorshipType}`)) as Record<string, unknown>;
    expect([authorshipType, Number(total) > 0]).toEqual([authorshipType, true]);
  }
  const [wrong] = await api.db.sql`
    select
      (select count(*) from definitions where change_summary is null or provenance is null) as unexplained,
      (select count(*) from definitions where runtime_md is null) as unrendered,
      (select count(*) from definitions where risk_profile ->> 'aggregateRiskLevel' <> 'none') as alarms,
      (
        select count(*)
        from definition_lines as l
        where (l.execution_count, l.unique_execution_count) <> (
          select count(*), count(distinct recorded_by) from definition_executions where line_id = l.id
        )
      ) as miscounted`;
  expect(wrong).toEqual({ unexplained: 0, unrendered: 0, alarms: 0, miscounted: 0 });
});
