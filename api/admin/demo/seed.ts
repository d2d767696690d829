/** `demo seed`: creates demo organizations, users, definitions, projects and tracker rows. */
import pLimit from "p-limit";
import type { Config } from "../../../shared/process/config.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import { existsOrg } from "../../../sql/accounts/orgs.ts";
import { findProjectByName, type ProjectRow } from "../../../sql/accounts/projects.ts";
import { openSession, type Pool, type Sql } from "../../../sql/connection/pool.ts";
import {
  analyzeTracker,
  DEMO_DONE,
  DEMO_STARTED,
  existsRun,
  findDemoState,
} from "../../../sql/demo/demo_state.ts";
import { lockSession } from "../../../sql/locks.ts";
import { OWN_TRACKER_SCHEMA } from "../../../sql/tracker/tracker_tables.ts";
import {
  type CommandContext,
  type CommandResult,
  defineCommand,
  requireOwnTracker,
  UsageError,
} from "../command/command.ts";
import { withThousands } from "../command/format_output.ts";
import { requireOrg } from "../command/lookups.ts";
import type { ImportProject } from "../import/import_manifest.ts";
import { importProject } from "../import/import_project.ts";
import { createDemoAccounts, createDemoCredentials } from "./accounts.ts";
import { describeCredentials, writeCredentialsFile } from "./credentials.ts";
import { DEMO_FILE, type DemoBundle, openDemo, orgOf } from "./demo_bundle.ts";

/** Number of projects loaded in parallel. Each one keeps one CPU core of PostgreSQL busy. */
const PARALLEL_PROJECTS = 2;
/** Maximum of `--scale`, which creates 100 million issues. */
const MAX_SCALE = 5000;

interface SeedOptions {
  /** Number of copies of each project. */
  scale: number;
  /** Whether to skip the demo without a message if the database already has an organization. */
  ifEmpty: boolean;
  credentialsFile: string | undefined;
  /** Path of the bundle; `DEMO_FILE` by default. */
  file?: string;
}

type DemoProject = Pick<ProjectRow, "id" | "name" | "slug">;

type SeedContext = Pick<CommandContext, "sql" | "progress"> & { config: Pick<Config, "publicUrl"> };

async function auditDemo(tx: Sql, action: string, scale: number): Promise<void> {
  await insertAuditEntry(tx, {
    actorType: "operator",
    action,
    subject: { type: "demo", id: "demo" },
    details: { scale },
  });
}

/**
 * Creates accounts, then definitions and projects, then credentials. Each project is loaded in one transaction, so an interrupted
 * run can be resumed. Credentials are created last, so they never belong to an incomplete demo.
 */
export async function seedDemo(context: SeedContext, options: SeedOptions): Promise<CommandResult> {
  const { sql } = context;
  const state = await findDemoState(sql);
  if (state === "done" || (state === null && options.ifEmpty && (await existsOrg(sql)))) {
    const text = options.ifEmpty ? "" : "The demo already exists. Nothing was changed.";
    return { json: { created: false }, text };
  }
  const demo = await openDemo(options.file ?? DEMO_FILE);
  if (state === null) {
    await sql.begin(async (tx) => {
      await createDemoAccounts(tx, demo);
      await auditDemo(tx, DEMO_STARTED, options.scale);
    });
  }
  context.progress("Demo: publishing definitions");
  // Publish and load in parallel: publishing keeps this process busy, and loading keeps PostgreSQL busy.
  const [definitions, projects] = await Promise.all([
    publishDefinitions(context, demo),
    loadProjects(context, demo, options.scale),
  ]);
  context.progress("Demo: updating statistics");
  await analyzeTracker(sql);
  return handOver(context, { ...options, demo, projects, definitions });
}

async function publishDefinitions({ sql }: SeedContext, demo: DemoBundle): Promise<number> {
  // Imported dynamically, because these modules load the libraries of the routes, which no other command needs.
  const { seedDemoDefinitions } = await import("./definitions.ts");
  const { openDocuments } = await import("../../documents/documents.ts");
  const documents = openDocuments();
  const definitions = await seedDemoDefinitions({ sql, documents, catalog: null }, demo);
  await documents.close();
  return definitions;
}

/** Loads missing projects, `PARALLEL_PROJECTS` at a time, and returns all projects. */
async function loadProjects(
  { sql, progress }: SeedContext,
  demo: DemoBundle,
  scale: number,
): Promise<DemoProject[]> {
  const shiftMs = Date.now() - Date.parse(demo.madeAt);
  const copies = Array.from({ length: scale }, (_, copy) =>
    demo.projects.map((source) => ({ source, copy })),
  ).flat();
  let done = 0;
  const load = async (copy: (typeof copies)[number]): Promise<DemoProject> => {
    const project = await ensureProject(sql, { ...copy, demo, shiftMs });
    done += 1;
    progress(`Demo: loaded ${done} of ${copies.length} projects`);
    return project;
  };
  return pLimit(PARALLEL_PROJECTS).map(copies, load);
}

/** Returns a project, after loading it if it has no rows. Additional copies get random ids. */
async function ensureProject(
  sql: Pool,
  options: { source: ImportProject; copy: number; demo: DemoBundle; shiftMs: number },
): Promise<DemoProject> {
  const { source, copy, demo, shiftMs } = options;
  const org = await requireOrg(sql, orgOf(demo, source).slug);
  const name = copy === 0 ? source.name : `${source.name} ${copy + 1}`;
  const found = await findProjectByName(sql, { orgId: org.id, name });
  if (found && (await existsRun(sql, found.id))) return found;
  const target = { id: found?.id ?? (copy === 0 ? source.id : crypto.randomUUID()), name };
  return sql.begin(async (tx) => {
    // The demo can be loaded again, so commits do not need to wait for the disk.
    await tx`set local synchronous_commit = off`;
    const { entries } = demo;
    return importProject(tx, source, { org, owner: undefined, entries, target, shiftMs, onRow() {} });
  });
}

/** Creates the credentials. Writes the credentials file before the keys are committed, so no valid key is lost. */
async function handOver(
  { sql, config: { publicUrl } }: SeedContext,
  options: SeedOptions & { demo: DemoBundle; projects: readonly DemoProject[]; definitions: number },
): Promise<CommandResult> {
  const { scale, credentialsFile, demo, projects, definitions } = options;
  const { orgs, users } = demo;
  const [project] = projects;
  if (!project) throw new Error("Cannot describe the demo: it has no project");
  return sql.begin(async (tx) => {
    const credentials = await createDemoCredentials(tx);
    const text = describeCredentials(credentials, { publicUrl, orgSlug: orgs[0].slug, project });
    await auditDemo(tx, DEMO_DONE, scale);
    if (credentialsFile !== undefined) await writeCredentialsFile(credentialsFile, text);
    const issues = demo.projects.reduce((sum, { files }) => sum + files.issues.rows, 0) * scale;
    return {
      json: {
        created: true,
        organizations: orgs.map(({ slug, subscriptionTier }) => ({ slug, subscriptionTier })),
        users: users.map(({ username, email, platformRole }) => ({ username, email, platformRole })),
        projects: projects.map(({ id, name, slug }) => ({ id, name, slug })),
        definitions,
        credentials,
      },
      text: `Demo: created ${projects.length} projects with ${withThousands(issues)} issues, and ${definitions} versions of definitions.\n\n${text}`,
    };
  });
}

export const seedDemoCommand = defineCommand({
  name: "demo seed",
  about:
    "Creates demo organizations, users, definitions and projects with 20,000 issues. Running it again changes nothing.",
  flags: {
    scale: {
      placeholder: "N",
      about: "loads every project N times, which multiplies the issues and their related rows",
    },
    "if-empty": {
      about: "does nothing if the database has an organization, or if TRACKER_SCHEMA names another schema",
    },
    "credentials-file": {
      placeholder: "FILE",
      about: "also writes the credentials to this file, with mode 0600",
    },
  },
  async run(context, values) {
    const scale = values.scale === undefined ? 1 : Number(values.scale);
    if (!Number.isInteger(scale) || scale < 1 || scale > MAX_SCALE) {
      throw new UsageError(`--scale must be a whole number from 1 to ${MAX_SCALE}`);
    }
    const { trackerSchema } = context.config;
    if (values["if-empty"] && trackerSchema !== OWN_TRACKER_SCHEMA) {
      const text = `No demo is loaded: TRACKER_SCHEMA is "${trackerSchema}", so exports would not have its rows.`;
      return { json: { created: false }, text };
    }
    requireOwnTracker(context.config, "demo seed");
    // Concurrent runs are serialized. The second run then finds a complete demo.
    const session = openSession(context.sql);
    try {
      await lockSession(session, "demoSeed");
      return await seedDemo(context, {
        scale,
        ifEmpty: values["if-empty"],
        credentialsFile: values["credentials-file"],
      });
    } finally {
      await session.end({ timeout: 1 });
    }
  },
});
