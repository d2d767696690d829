/** Creates the demo's definitions with the functions that serve API requests, and records executions. */
import { parseDefinition } from "../../../shared/definitions/parse_definition.ts";
import { findMembership } from "../../../sql/accounts/organization_members.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { insertExecutions, type NewExecution } from "../../../sql/definitions/executions.ts";
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";
import { resolveDefinition } from "../../../sql/definitions/versions.ts";
import type { VersionAddress } from "../../definitions/address.ts";
import { createDraft } from "../../definitions/create.ts";
import type { DefinitionDeps } from "../../definitions/document.ts";
import { forkVersion } from "../../definitions/forks/fork.ts";
import { atOnce, type Writer } from "../../definitions/new_draft.ts";
import { publishDraft } from "../../definitions/publish.ts";
import { archiveVersion, deprecateVersion } from "../../definitions/retire.ts";
import { updateVersion } from "../../definitions/update.ts";
import { requireOrg, requireUser } from "../command/lookups.ts";
import type { DemoContent, DemoVersion } from "./demo_bundle.ts";

const AUTHOR = "demo-owner";
const SOURCES = ["sdk", "cli", "ci", "api"] as const;
const DAYS = 28;
/** The fractional parts of this number's multiples are spread evenly between 0 and 1. */
const GOLDEN_RATIO = 0.618_033_988_749_895;

/** Creates missing versions, completes unfinished versions and records executions. Returns the number of versions. */
export async function seedDemoDefinitions(deps: DefinitionDeps, demo: DemoContent): Promise<number> {
  const { sql } = deps;
  const writer = await demoWriter(sql, demo.orgs[0].slug);
  const rows: DefinitionRow[] = [];
  for (const version of demo.versions) rows.push(await ensureVersion(deps, writer, version));
  rows.push(await ensureFork(deps, writer, demo.fork));
  const callers = await Promise.all(demo.users.map(({ username }) => requireUser(sql, username)));
  const lines = Map.groupBy(
    rows.filter(({ status }) => status !== "draft"),
    ({ lineId }) => lineId,
  );
  for (const [index, versions] of [...lines.values()].entries()) {
    await ensureExecutions(sql, { index, versions, callers: callers.map(({ id }) => id) });
  }
  return rows.length;
}

/** Returns the demo's author as a writer of an organization. The audit log records the operator as the actor. */
async function demoWriter(sql: Pool, slug: string): Promise<Writer> {
  const { id: userId } = await requireUser(sql, AUTHOR);
  const { id: orgId } = await requireOrg(sql, slug);
  const org = await findMembership(sql, { userId, orgId });
  if (!org) throw new Error(`Cannot seed definitions: ${AUTHOR} is not a member of "${slug}"`);
  return {
    caller: { userId, platformRole: "user" },
    viewer: { userId, boundOrgId: null },
    actor: { actorType: "operator" },
    org,
    isOrgNamed: true,
    inTurn: atOnce,
  };
}

/** Creates a version if it is missing, then moves it to the status that the demo specifies. */
async function ensureVersion(
  deps: DefinitionDeps,
  writer: Writer,
  version: DemoVersion,
): Promise<DefinitionRow> {
  const { sql } = deps;
  const { type, yaml, visibility, provenance, changeSummary, status, deprecation } = version;
  const parsed = parseDefinition(yaml, { type });
  if (!parsed.ok) throw new Error(`Cannot read a demo definition: ${JSON.stringify(parsed.problems)}`);
  const { name, version: number } = parsed.source;
  const address: VersionAddress = { type, orgSlug: writer.org.slug, name, version: number };
  let row =
    (await findVersion(sql, writer, address)) ??
    (await createDraft(deps, {
      writer,
      address: { ...address, version: null },
      body: { yaml, visibility, provenance },
    }));
  if (row.status === "draft" && row.changeSummary === null) {
    ({ row } = await updateVersion(deps, { writer, address, body: { changeSummary } }));
  }
  if (row.status === "draft" && status !== "draft") {
    ({ row } = await publishDraft(deps, { writer, address }));
  }
  if (row.status === "published" && deprecation) {
    row = await deprecateVersion(sql, { writer, address, body: deprecation });
  }
  if (row.status === "deprecated" && status === "archived") {
    row = await archiveVersion(sql, { writer, address });
  }
  return row;
}

async function findVersion(
  sql: Pool,
  writer: Writer,
  address: Pick<VersionAddress, "type" | "name" | "version">,
): Promise<DefinitionRow | null> {
  const { viewer, org } = writer;
  const { definition } = await resolveDefinition(sql, { ...address, viewer, orgId: org.orgId });
  return definition;
}

async function ensureFork(
  deps: DefinitionDeps,
  sourceWriter: Writer,
  { orgSlug, source, wanted }: DemoContent["fork"],
): Promise<DefinitionRow> {
  const { sql } = deps;
  const writer = await demoWriter(sql, orgSlug);
  const address = { type: source.type, orgSlug, name: wanted.name, version: "1.0.0" };
  let row = await findVersion(sql, writer, address);
  if (!row) {
    const original = await findVersion(sql, sourceWriter, source);
    if (!original) throw new Error(`Cannot fork ${source.name}@${source.version}: it does not exist`);
    ({ definition: row } = await forkVersion(deps, { writer, source: original, wanted }));
  }
  return row.status === "draft" ? (await publishDraft(deps, { writer, address })).row : row;
}

/** Records executions of the last `DAYS` days, more of them in recent days. Repeated calls add no duplicates. */
async function ensureExecutions(
  sql: Pool,
  options: { index: number; versions: readonly DefinitionRow[]; callers: readonly string[] },
): Promise<void> {
  const { index, versions, callers } = options;
  const [first] = versions;
  if (!first) return;
  const { lineId, name } = first;
  const now = Date.now();
  const callersHere = callers.slice(0, 1 + (index % callers.length));
  const executions = Array.from({ length: 12 + ((index * 37) % 80) }, (_, n): NewExecution => {
    const age = ((n * GOLDEN_RATIO) % 1) ** 2 * DAYS * 86_400_000;
    return {
      id: crypto.randomUUID(),
      definitionId: versions[n % versions.length]?.id ?? first.id,
      runId: `demo-${name}-${n}`,
      source: SOURCES[(n + index) % SOURCES.length] ?? SOURCES[0],
      recordedBy: callersHere[n % callersHere.length] ?? first.authorId,
      recordedAt: new Date(now - age).toISOString(),
    };
  });
  await insertExecutions(sql, { lineId, executions, auditEntries: [] });
}
