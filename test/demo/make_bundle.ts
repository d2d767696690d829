/** Makes the demo's bundle: fills a database with generated rows and exports them. Every run gives the same bundle. */
import { writeFile } from "node:fs/promises";
import { Uint8ArrayWriter, ZipWriter } from "@zip.js/zip.js";
import type { DemoContent } from "../../api/admin/demo/demo_bundle.ts";
import { NO_FILTERS, toVisibility } from "../../shared/exports/datasets.ts";
import {
  type ManifestProject,
  organizationManifest,
  type ProjectContents,
} from "../../shared/exports/manifest.ts";
import { NIL_UUID } from "../../shared/uuid.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { openExportSnapshot } from "../../sql/connection/snapshot.ts";
import { projectEntries } from "../../sql/exports/project_entries.ts";
import { allowBackfill } from "../../sql/tracker/tracker_tables.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { DEMO_FORK, readDemoVersions } from "./definition_files.ts";
import { insertDemoIssues } from "./issue_rows.ts";
import { DEMO_ORGS, DEMO_PROJECTS, DEMO_USERS } from "./plan.ts";
import { insertDemoRuns } from "./run_rows.ts";
import { createDemoScaffold } from "./scaffold.ts";

/** The time of the newest rows. Loading the demo shifts all times except those inside ids, because the README shows ids. */
const MADE_AT = "2026-11-22T11:57:24.082Z";
const VISIBILITY = toVisibility({ include_deleted: true, include_archived: true, include_superseded: true });
const [OWNER] = DEMO_USERS;

/** Writes the bundle to `path`. `sql` is an empty database. A `scale` of 1 gives 20,000 issues. */
export async function makeDemoBundle(
  sql: Pool,
  { path, scale }: { path: string; scale: number },
): Promise<void> {
  await fillProjects(sql, scale);
  const content: DemoContent = {
    madeAt: MADE_AT,
    users: DEMO_USERS,
    orgs: DEMO_ORGS,
    versions: await readDemoVersions(),
    fork: DEMO_FORK,
  };
  const zip = new ZipWriter(new Uint8ArrayWriter(), {
    level: 9,
    useWebWorkers: false,
    useCompressionStream: false,
    lastModDate: new Date(MADE_AT),
    extendedTimestamp: false,
  });
  const add = (name: string, content: AsyncIterable<Uint8Array>) =>
    zip.add(name, new Response(content).body ?? undefined);
  await add("demo.json", textOf(`${JSON.stringify(content, null, 1)}\n`));
  const projects = await addProjects(sql, add);
  const organization = { id: NIL_UUID, slug: "demo", name: "Demo" };
  const head = {
    asOf: MADE_AT,
    since: null,
    format: "ndjson",
    organization,
    visibility: VISIBILITY,
  } as const;
  await add("manifest.json", organizationManifest({ ...head, projects }));
  await writeFile(path, await zip.close());
}

/** Creates the projects with their rows. All values are derived from the project's index and the row's number. */
async function fillProjects(sql: Pool, scale: number): Promise<void> {
  const make = createFactory(sql);
  if (!OWNER) throw new Error("Cannot make the demo: it has no user");
  await make.user({ ...OWNER });
  const org = await make.org();
  for (const [seed, { id: projectId, name, issues }] of DEMO_PROJECTS.entries()) {
    await make.project({ id: projectId, name, orgId: org.id, ownerId: OWNER.id });
    await sql.begin(async (tx) => {
      await allowBackfill(tx);
      // With less memory, hash joins would use several batches and change the order of the issues. The indexes have the same order,
      // so no sort is needed.
      await tx`set local work_mem = '64MB'`;
      const plan = { projectId, seed, issues: issues * scale, authorId: OWNER.id, now: MADE_AT };
      await createDemoScaffold(tx, plan);
      await insertDemoRuns(tx, plan);
      await insertDemoIssues(tx, plan);
    });
  }
}

type Add = (name: string, content: AsyncIterable<Uint8Array>) => Promise<unknown>;

/** Adds the files of all projects, including hidden rows, and returns the manifest's entries for the projects. */
async function addProjects(sql: Pool, add: Add): Promise<ManifestProject[]> {
  const snapshot = await openExportSnapshot(sql, { control: sql, signal: new AbortController().signal });
  const projects: ManifestProject[] = [];
  for (const { id, name } of DEMO_PROJECTS) {
    const directory = name.toLowerCase().replaceAll(" ", "-");
    const contents: ProjectContents = { files: {}, deleted: null };
    const selection = {
      trackerSchema: "public",
      projectId: id,
      asOf: MADE_AT,
      visibility: VISIBILITY,
      filters: NO_FILTERS,
    };
    const options = { format: "ndjson", selection, meter: { rows: 0 }, directory } as const;
    for await (const entry of projectEntries(snapshot, contents, options))
      await add(entry.name, entry.content);
    projects.push({ directory, project: { id, name }, ...contents });
  }
  await snapshot.close();
  return projects;
}

async function* textOf(text: string): AsyncGenerator<Uint8Array, void, void> {
  yield new TextEncoder().encode(text);
}
