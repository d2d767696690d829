/** Tests that a copy kept up to date by increments equals a full export. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ReservedSql } from "postgres";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  NO_FILTERS,
  toVisibility,
} from "../../../../shared/exports/datasets.ts";
import { createLog } from "../../../../shared/process/log.ts";
import type { ExportFormat } from "../../../../shared/vocabulary.ts";
import { EXPORT_APPLICATION } from "../../../../sql/connection/application_names.ts";
import type { Node, Nodes } from "../../../../sql/connection/nodes.ts";
import { openPool } from "../../../../sql/connection/pool.ts";
import type { ExportSnapshot } from "../../../../sql/connection/snapshot.ts";
import { streamDatasetFile } from "../../../../sql/exports/dataset_file.ts";
import { countDeletedRows, streamDeletedFile } from "../../../../sql/exports/deleted_rows.ts";
import { openSource } from "../../../../sql/exports/open_source.ts";
import { countDatasetRows, type ExportSelection } from "../../../../sql/exports/select_rows.ts";
import { settleAsOf } from "../../../../sql/exports/settle_as_of.ts";
import { openNodes } from "../../../../sql/tracker/tracker_shards.ts";
import { OWN_TRACKER_SCHEMA } from "../../../../sql/tracker/tracker_tables.ts";
import { HistoryWriters, history, openWriterPool } from "../../../helpers/exports/tracker_history.ts";
import { openTestDatabase, type TestDatabase } from "../../../helpers/postgres/database.ts";
import { createFactory } from "../../../helpers/postgres/factory.ts";

/** The flags of each copy. The first two copies are NDJSON, the others CSV. */
const FLAG_SETS = [
  {},
  { include_resolved: false },
  { include_deleted: true, include_archived: true, include_superseded: true },
  { include_archived: true, include_resolved: false },
] as const;
const COPIES = FLAG_SETS.map((flags, index) => ({
  visibility: toVisibility(flags),
  format: (index < 2 ? "ndjson" : "csv") as ExportFormat,
}));

/** Maps a row's dataset and id to its line. */
type Lines = Map<string, string>;

interface Copy {
  visibility: ExportSelection["visibility"];
  format: ExportFormat;
  asOf: string | null;
  lines: Lines;
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text;
}

/** Returns the lines of an export, without the CSV header. */
async function linesOf(chunks: AsyncIterable<Uint8Array>, format: ExportFormat): Promise<string[]> {
  const lines = (await textOf(chunks)).split(format === "csv" ? "\r\n" : "\n").slice(0, -1);
  return format === "csv" ? lines.slice(1) : lines;
}

function idOf(line: string, format: ExportFormat): string {
  return format === "csv" ? (line.split(",")[0] ?? "") : JSON.parse(line).id;
}

async function readRows(
  snapshot: ExportSnapshot,
  selection: ExportSelection,
  format: ExportFormat,
): Promise<Lines> {
  const found: Lines = new Map();
  for (const name of EXPORT_DATASET_NAMES) {
    const dataset = EXPORT_DATASETS[name];
    const counted = await snapshot.run((tx) => countDatasetRows(tx, dataset, { selection, limit: 10_000 }));
    const lines = await linesOf(streamDatasetFile(snapshot, dataset, { selection, format }), format);
    expect(counted).toBe(lines.length);
    for (const line of lines) found.set(`${name} ${idOf(line, format)}`, line);
  }
  return found;
}

interface ExportDatabase extends TestDatabase {
  /** The nodes of the cluster; null on a single server. */
  nodes: Nodes | null;
}

async function openDatabase(): Promise<ExportDatabase> {
  const db = await openTestDatabase();
  const log = createLog({ level: "silent", process: "test" });
  const options = { url: db.url, applicationName: EXPORT_APPLICATION, max: 2, log };
  const nodes = await openNodes(db.sql, options);
  const close = async (): Promise<void> => {
    await nodes?.close();
    await db[Symbol.asyncDispose]();
  };
  return { ...db, nodes, [Symbol.asyncDispose]: close };
}

interface Source {
  snapshot: ExportSnapshot;
  /** Selects the project's rows in the snapshot, regardless of visibility. */
  from: Pick<ExportSelection, "trackerSchema" | "shards" | "projectId" | "asOf">;
}

/** Settles a watermark and opens a snapshot on the project's server. On a cluster, that server is a node. */
async function openAt(db: ExportDatabase, projectId: string, asOf?: string): Promise<Source> {
  const settle = async (nodes: readonly Node[]): Promise<string> => {
    const settled = await settleAsOf(db.sql, asOf === undefined ? { nodes } : { asOf, nodes });
    if (!settled.ok) throw new Error("Cannot settle a watermark");
    return settled.asOf;
  };
  const { signal } = new AbortController();
  const config = { trackerSchema: OWN_TRACKER_SCHEMA };
  const databases = { ...db, exportSql: db.sql, replica: null, config };
  const { snapshot, shards, asOf: settled } = await openSource(databases, { projectId, signal, settle });
  return { snapshot, from: { ...config, projectId, shards, asOf: settled } };
}

/**
 * Updates the copy with an increment, or fills a new copy with a full export. Returns the keys of rows that differ between the copy
 * and a full export.
 */
async function follow({ snapshot, from }: Source, copy: Copy): Promise<string[]> {
  const { format, visibility } = copy;
  const selection: ExportSelection = { ...from, visibility, filters: NO_FILTERS };
  const full = await readRows(snapshot, selection, format);
  if (copy.asOf === null) {
    copy.lines = new Map(full);
  } else {
    const increment = { ...selection, since: copy.asOf };
    const deleted = await linesOf(streamDeletedFile(snapshot, { increment, format: "ndjson" }), "ndjson");
    expect(await snapshot.run((tx) => countDeletedRows(tx, { increment, limit: 10_000 }))).toBe(
      deleted.length,
    );
    for (const line of deleted) {
      const { dataset, id, at } = JSON.parse(line);
      expect(at > increment.since && at <= from.asOf).toBe(true);
      copy.lines.delete(`${dataset} ${id}`);
    }
    for (const [key, line] of await readRows(snapshot, increment, format)) copy.lines.set(key, line);
  }
  copy.asOf = from.asOf;
  const keys = new Set([...full.keys(), ...copy.lines.keys()]);
  return [...keys].filter((key) => full.get(key) !== copy.lines.get(key));
}

async function takeStep(
  db: ExportDatabase,
  copies: Copy[],
  projectId: string,
): Promise<{ asOf: string; different: string[] }> {
  const source = await openAt(db, projectId);
  try {
    const different: string[] = [];
    for (const copy of copies) different.push(...(await follow(source, copy)));
    return { asOf: source.from.asOf, different };
  } finally {
    await source.snapshot.close();
  }
}

/** Returns the ids of rows that may differ in an export at `asOf`: rows changed later, and their children. */
async function listChangedSince(
  db: TestDatabase,
  writers: HistoryWriters,
  asOf: string,
): Promise<Set<string>> {
  const ids = writers.touched.filter(({ startedAt }) => startedAt > asOf).map(({ id }) => id);
  const children = await db.sql<{ id: string }[]>`
    select id from issue_notes where issue_id = any (${ids}::uuid[])
    union all select id from status_history where issue_id = any (${ids}::uuid[])
    union all select id from occurrences where issue_id = any (${ids}::uuid[]) or run_id = any (${ids}::uuid[])
    union all select id from agent_snapshots where run_id = any (${ids}::uuid[])
    union all select id from analysis_summaries where run_id = any (${ids}::uuid[])
    union all select id from analysis_records where run_id = any (${ids}::uuid[])`;
  return new Set([...ids, ...children.map(({ id }) => id)]);
}

/** The number of generated histories. Fewer run on a cluster, where each takes up to 20 seconds on a busy machine. */
const HISTORIES = { oneServer: 10, cluster: 4 };

test("a copy kept up to date by increments equals a full export, whatever overlapping transactions write", async () => {
  await using db = await openDatabase();
  const make = createFactory(db.sql);
  const person = await make.person();
  const pool = openWriterPool(db.url);
  let exports = 0;
  let writes = 0;
  const property = fc.asyncProperty(history(50), fc.boolean(), async (acts, isOdd) => {
    const project = await make.project({ orgId: person.org.id, ownerId: person.user.id });
    const writers = new HistoryWriters(pool, project.id);
    await writers.seed();
    const kept = COPIES.filter((_, index) => index % 2 === Number(isOdd));
    const copies: Copy[] = kept.map((copy) => ({ ...copy, asOf: null, lines: new Map() }));
    const compare = async (): Promise<void> => {
      exports += 1;
      const { asOf, different } = await takeStep(db, copies, project.id);
      const allowed = writers.isIdle ? new Set() : await listChangedSince(db, writers, asOf);
      expect(different.filter((key) => !allowed.has(key.split(" ")[1] ?? ""))).toEqual([]);
    };
    try {
      for (const act of acts) {
        if (act.kind === "export") await compare();
        else await writers.act(act);
      }
      await writers.commitAll();
      await compare();
    } finally {
      await writers.commitAll();
      writes += writers.touched.length;
    }
  });
  const numRuns = db.nodes ? HISTORIES.cluster : HISTORIES.oneServer;
  await fc.assert(property, { numRuns, endOnFailure: true });
  await pool.end();
  // Each history ends with an export, and some histories contain more exports.
  expect(exports).toBeGreaterThan(numRuns);
  // Most actions write a row. The others write nothing, for example because a row is locked or a foreign key is violated.
  expect(writes).toBeGreaterThan(3 * exports);
});

/** Creates a project and a copy of its export, and begins `count` transactions one after the other. */
async function beginInOrder(db: ExportDatabase, count: number) {
  const make = createFactory(db.sql);
  const person = await make.person();
  const project = await make.project({ orgId: person.org.id, ownerId: person.user.id });
  const pool = openPool(db.url, { applicationName: "tracker", max: count });
  const made = await make.issue({ projectId: project.id });
  const note = await make.note({ projectId: project.id, issueId: made.id });
  const copy: Copy = { visibility: toVisibility({}), format: "ndjson", asOf: null, lines: new Map() };
  const follow = () => takeStep(db, [copy], project.id);
  await follow();
  const transactions: ReservedSql[] = [];
  for (let index = 0; index < count; index += 1) {
    const transaction = await pool.reserve();
    await transaction`begin`;
    await transaction`select now()`;
    // Makes the next transaction start in a later millisecond.
    await db.sql`select pg_sleep(0.005)`;
    transactions.push(transaction);
  }
  const close = async (): Promise<void> => {
    for (const transaction of transactions) transaction.release();
    await pool.end();
  };
  return { make, project, issueId: made.id, noteId: note.id, copy, follow, transactions, close };
}

test("a row is kept if a later transaction deleted it before an earlier transaction inserted it again", async () => {
  await using db = await openDatabase();
  const { project, issueId, noteId, copy, follow, transactions, close } = await beginInOrder(db, 3);
  const [first, open, last] = transactions as [ReservedSql, ReservedSql, ReservedSql];
  await last`delete from issue_notes where id = ${noteId}`;
  await last`commit`;
  const again = { projectId: project.id, id: noteId, issueId, content: "again", noteType: "context" };
  await first`insert into issue_notes ${first(again)}`;
  await first`commit`;
  // `open` has not ended, so the cutoff is between the starts of `first` and `last`.
  const between = await follow();
  expect(between.different).toEqual([]);
  await open`commit`;
  expect((await follow()).different).toEqual([]);
  expect(copy.lines.get(`issue-notes ${noteId}`)).toContain('"again"');
  await close();
});

test("a row is deleted if a later transaction deleted it before an earlier transaction reinserted it under a hidden issue", async () => {
  await using db = await openDatabase();
  const { project, issueId, noteId, copy, follow, transactions, close } = await beginInOrder(db, 3);
  const [first, open, last] = transactions as [ReservedSql, ReservedSql, ReservedSql];
  expect(copy.lines.has(`issue-notes ${noteId}`)).toBe(true);
  await last`delete from issue_notes where id = ${noteId}`;
  await last`commit`;
  await first`update issues set deleted_at = now() where id = ${issueId}`;
  const again = { projectId: project.id, id: noteId, issueId, content: "again", noteType: "context" };
  await first`insert into issue_notes ${first(again)}`;
  await first`commit`;
  await follow();
  await open`commit`;
  expect((await follow()).different).toEqual([]);
  expect(copy.lines.has(`issue-notes ${noteId}`)).toBe(false);
  await close();
});

test("a row comes with its parent if the row's transaction started before the parent's", async () => {
  await using db = await openDatabase();
  const { project, copy, follow, transactions, close } = await beginInOrder(db, 3);
  const [first, open, last] = transactions as [ReservedSql, ReservedSql, ReservedSql];
  const run = crypto.randomUUID();
  await last`insert into runs ${last({ projectId: project.id, id: run, runNumber: 1, workflowType: "review", timestamp: "2026-01-01T00:00:00Z" })}`;
  await last`commit`;
  const [snapshot] = await first<{ id: string }[]>`
    insert into agent_snapshots ${first({ projectId: project.id, runId: run, name: "reviewer", decision: "PASS" })} returning id`;
  await first`commit`;
  await follow();
  expect(copy.lines.has(`agent-snapshots ${snapshot?.id}`)).toBe(false);
  await open`commit`;
  expect((await follow()).different).toEqual([]);
  expect(copy.lines.has(`agent-snapshots ${snapshot?.id}`)).toBe(true);
  await close();
});

test("a row that changed again after the cutoff is only in the next increment", async () => {
  await using db = await openDatabase();
  const { project, issueId, noteId, transactions, close } = await beginInOrder(db, 2);
  const [first, open] = transactions as [ReservedSql, ReservedSql];
  const { asOf: since } = await followTo(db, project.id, null);
  await first`update issues set title = 'first' where id = ${issueId}`;
  await first`commit`;
  const { asOf, titles } = await followTo(db, project.id, since);
  expect(titles).toEqual(["first"]);
  const changed = db.sql`update issues set title = 'second' where id = ${issueId}`;
  await changed;
  expect((await followTo(db, project.id, since, asOf)).titles).toEqual([]);
  await open`commit`;
  expect((await followTo(db, project.id, asOf)).titles).toEqual(["second"]);
  // The increment excludes the note, because neither the note nor its visibility has changed.
  expect((await followTo(db, project.id, asOf)).notes).toEqual([]);
  expect(noteId).toBeString();
  await close();
});

/** Reads an increment, or a full export if `since` is null. Returns the cutoff, the titles of the issues, and the notes. */
async function followTo(db: ExportDatabase, projectId: string, since: string | null, to?: string) {
  const { snapshot, from } = await openAt(db, projectId, to);
  const selection = { ...from, since, visibility: toVisibility({}), filters: NO_FILTERS };
  const read = async (name: "issues" | "issue-notes") => {
    const lines = streamDatasetFile(snapshot, EXPORT_DATASETS[name], { selection, format: "ndjson" });
    return (await linesOf(lines, "ndjson")).map((line) => JSON.parse(line));
  };
  const issues = await read("issues");
  const notes = await read("issue-notes");
  await snapshot.close();
  return { asOf: from.asOf, titles: issues.map(({ title }) => title), notes };
}
