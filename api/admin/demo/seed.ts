/** `demo seed`: organizations, users, definitions, projects and tracker rows for trying the service. */

import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import { existsOrg } from "../../../sql/accounts/orgs.ts";
import type { ProjectRow } from "../../../sql/accounts/projects.ts";
import { openSession, type Sql } from "../../../sql/connection/pool.ts";
import {
  analyzeTracker,
  DEMO_DONE,
  DEMO_STARTED,
  existsRun,
  findDemoState,
  insertDemoProjectRows,
} from "../../../sql/demo/seed.ts";
import { lockSession } from "../../../sql/locks.ts";
import { type CommandContext, type CommandResult, defineCommand, UsageError } from "../command.ts";
import { withThousands } from "../present.ts";
import { requireOwnTracker } from "../require_own_tracker.ts";
import { createDemoAccounts, createDemoCredentials, requireDemoProject } from "./accounts.ts";
import { describeCredentials, writeCredentialsFile } from "./credentials.ts";
import { DEMO_ORGS, DEMO_PROJECTS, DEMO_USERS, type DemoProject } from "./plan.ts";

/** Projects filled at a time. PostgreSQL does the work, on one processor each. */
const PARALLEL_PROJECTS = 2;
/** 100 million issues. */
const MAX_SCALE = 5000;

export interface SeedOptions {
  /** Of the issues, which are 20,000 at 1. */
  scale: number;
  /** Silently does nothing if the database is in use. */
  ifEmpty: boolean;
  credentialsFile: string | undefined;
}

type SeedContext = Pick<CommandContext, "sql" | "publicUrl" | "progress">;

async function auditDemo(tx: Sql, action: string, scale: number): Promise<void> {
  await insertAuditEntry(tx, {
    actorType: "operator",
    action,
    subjectType: "demo",
    subjectId: "demo",
    details: { scale },
  });
}

/**
 * Creates accounts, then definitions one by one, then each project's rows in one transaction, then credentials. An
 * interrupted seed continues where it stopped, and credentials never belong to half a demo.
 */
export async function seedDemo(context: SeedContext, options: SeedOptions): Promise<CommandResult> {
  const { sql } = context;
  const state = await findDemoState(sql);
  if (state === "done" || (state === null && options.ifEmpty && (await existsOrg(sql)))) {
    const text = options.ifEmpty ? "" : "The demo already exists. Nothing was changed.";
    return { json: { created: false }, text };
  }
  if (state === null) {
    await sql.begin(async (tx) => {
      await createDemoAccounts(tx);
      await auditDemo(tx, DEMO_STARTED, options.scale);
    });
  }
  context.progress("Demo: publishing definitions");
  // Imported here, because it loads the libraries of the routes, which no other command needs.
  const { seedDemoDefinitions } = await import("./definitions.ts");
  const { openDocuments } = await import("../../documents/documents.ts");
  const documents = openDocuments();
  const definitions = await seedDemoDefinitions({ sql, documents, catalog: null });
  await documents.close();
  const projects = await fillProjects(context, options.scale);
  context.progress("Demo: updating statistics");
  await analyzeTracker(sql);
  return handOver(context, { ...options, projects, definitions });
}

/** Fills the empty projects, a few at a time. */
async function fillProjects({ sql, progress }: SeedContext, scale: number): Promise<ProjectRow[]> {
  const projects: ProjectRow[] = [];
  const now = new Date().toISOString();
  const waiting = [...DEMO_PROJECTS.entries()];
  let done = 0;
  const fillNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [seed, plan]: [number, DemoProject] = next;
      const project = await requireDemoProject(sql, plan);
      projects[seed] = project;
      if (!(await existsRun(sql, project.id))) {
        const issues = plan.issues * scale;
        await sql.begin((tx) =>
          insertDemoProjectRows(tx, { projectId: project.id, seed, issues, authorId: project.ownerId, now }),
        );
      }
      done += 1;
      progress(`Demo: filled ${done} of ${DEMO_PROJECTS.length} projects`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_PROJECTS }, fillNext));
  return projects;
}

/** Creates the credentials. The file is written before the keys are committed, so that no working key is lost. */
async function handOver(
  { sql, publicUrl }: SeedContext,
  given: SeedOptions & { projects: readonly ProjectRow[]; definitions: number },
): Promise<CommandResult> {
  const { scale, credentialsFile, projects, definitions } = given;
  const [project] = projects;
  const [org] = DEMO_ORGS;
  if (!project || !org) throw new Error("Cannot describe the demo: it has no project");
  return sql.begin(async (tx) => {
    const credentials = await createDemoCredentials(tx);
    const text = describeCredentials(credentials, { publicUrl, orgSlug: org.slug, project });
    await auditDemo(tx, DEMO_DONE, scale);
    if (credentialsFile !== undefined) await writeCredentialsFile(credentialsFile, text);
    const issues = DEMO_PROJECTS.reduce((sum, plan) => sum + plan.issues, 0) * scale;
    return {
      json: {
        created: true,
        organizations: DEMO_ORGS.map(({ slug, subscriptionTier }) => ({ slug, subscriptionTier })),
        users: DEMO_USERS.map(({ username, email, platformRole }) => ({ username, email, platformRole })),
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
    scale: { placeholder: "N", about: "multiplies the issues and their related rows" },
    "if-empty": { about: "does nothing if the database has an organization" },
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
    requireOwnTracker(context.config, "demo seed");
    // Concurrent runs take turns; the second has nothing to do.
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
