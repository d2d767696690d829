/** POST …/publish, …/deprecate and …/archive: the status changes of a version. */
import { Elysia, t } from "elysia";
import { isLetterFirstName } from "../../shared/definitions/name.ts";
import { isVersion } from "../../shared/definitions/versions.ts";
import type { Config } from "../../shared/process/config.ts";
import { isAccountSlug } from "../../shared/slugs.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { markDefinitionArchived, markDefinitionDeprecated } from "../../sql/definitions/changes.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import type { ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import { insertDefinitionEvents } from "../../sql/events/events.ts";
import { access } from "../http/access.ts";
import { Turns } from "../http/fair_queue.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { DefinitionParams, parseVersionAddress, splitAddress, type VersionAddress } from "./address.ts";
import { requireMove } from "./check_status_change.ts";
import type { DefinitionDeps } from "./document.ts";
import { ExpectedUpdatedAt } from "./edit_conflict.ts";
import { changeVersion, findLineWriter } from "./find_writable.ts";
import { auditOf, requireRow, type Writer } from "./new_draft.ts";
import { ARCHIVE_DETAIL, DEPRECATE_DETAIL, PUBLISH_DETAIL } from "./openapi/lifecycle.ts";
import { publishDefinition } from "./publish.ts";
import { rejectUnstorable } from "./storable_text.ts";

const PublishBody = t.Object(
  { expectedUpdatedAt: ExpectedUpdatedAt },
  { title: "Publication", additionalProperties: false, examples: [{}] },
);

const DeprecateBody = t.Object(
  {
    reason: t.String({ minLength: 1, maxLength: 2000 }),
    successor: t.Optional(
      t.String({ description: "`name` or `@org/name` of the same type, with or without `@version`" }),
    ),
  },
  {
    title: "Deprecation",
    additionalProperties: false,
    examples: [{ reason: "Replaced by a more thorough agent", successor: "code-reviewer@1.2.0" }],
  },
);

/** Publications wait for each other (`dependencyGraph`), each with a connection: they get less than half of those. */
export const PUBLICATIONS_MAX = 4;

/** What routes need that publish, or try what publishing would do. */
export interface PublishDeps extends DefinitionDeps {
  publications: Turns;
}

/** Returns the turns of one process: publications, validations and batches share them. */
export function createPublicationTurns(config: Pick<Config, "databasePoolMax">): Turns {
  const max = Math.min(PUBLICATIONS_MAX, Math.max(1, Math.floor(config.databasePoolMax / 2)));
  return new Turns({ max, what: "publications" });
}

export function lifecycleRoutes(deps: PublishDeps) {
  const { sql, publications } = deps;
  return new Elysia({ prefix: "/definitions/:type/:name" })
    .use(access)
    .post(
      "/publish",
      async ({ params, body, request, caller }) => {
        const asked = parseVersionAddress(params);
        const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
        const expectedUpdatedAt = body?.expectedUpdatedAt;
        const publish = () => publishDefinition(deps, { writer, address, expectedUpdatedAt });
        const { row, warnings } = await publications.run(request, publish);
        return { data: row.shown, warnings };
      },
      {
        access: "caller",
        params: DefinitionParams,
        body: t.Optional(PublishBody),
        detail: PUBLISH_DETAIL,
      },
    )
    .post(
      "/deprecate",
      async ({ params, body, request, caller }) => {
        const asked = parseVersionAddress(params);
        const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
        const row = await deprecateDefinition(sql, { writer, address, body });
        return { data: row.shown };
      },
      { access: "caller", params: DefinitionParams, body: DeprecateBody, detail: DEPRECATE_DETAIL },
    )
    .post(
      "/archive",
      async ({ params, request, caller }) => {
        const asked = parseVersionAddress(params);
        const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
        const row = await archiveDefinition(sql, { writer, address });
        return { data: row.shown };
      },
      { access: "caller", params: DefinitionParams, detail: ARCHIVE_DETAIL },
    );
}

/** Checks the form of a successor. It does not have to exist: it may be published later. */
function requireSuccessor(successor: string, row: DefinitionRow): void {
  const { orgSlug, name, version } = splitAddress(successor);
  const isAddress = isLetterFirstName(name) && (orgSlug === null || isAccountSlug(orgSlug));
  if (!isAddress || (version !== null && !isVersion(version))) {
    const message = "must be a name that starts with a letter, as name, name@1.0.0 or @org/name@1.0.0";
    throw invalidInput([{ path: "successor", message }]);
  }
  if ((orgSlug ?? row.orgSlug) === row.orgSlug && name === row.name && version === row.version) {
    throw invalidInput([{ path: "successor", message: "must be another version than the deprecated one" }]);
  }
}

/** Deprecates a published version. Throws INVALID_TRANSITION. */
export async function deprecateDefinition(
  sql: Pool,
  given: { writer: Writer; address: VersionAddress; body: typeof DeprecateBody.static },
): Promise<ShownDefinitionRow> {
  const { writer, body } = given;
  const { reason, successor = null } = body;
  return changeVersion(sql, given, async (tx, row) => {
    rejectUnstorable({ reason, successor });
    if (reason.trim() === "") throw invalidInput([{ path: "reason", message: "must say why" }]);
    if (successor !== null) requireSuccessor(successor, row);
    requireMove(row, "deprecated");
    const moved = await markDefinitionDeprecated(tx, { id: row.id, reason, successor });
    if (!moved) throw new Error(`Cannot deprecate definition ${row.id}, which is locked and published`);
    await insertAuditEntry(tx, auditOf(writer, row, "definition.deprecate"));
    await insertDefinitionEvents(tx, { type: "definition.deprecated", definitionIds: [row.id] });
    return requireRow(tx, row.id, given.writer);
  });
}

/** Archives a deprecated version. Throws INVALID_TRANSITION. */
export async function archiveDefinition(
  sql: Pool,
  given: { writer: Writer; address: VersionAddress },
): Promise<ShownDefinitionRow> {
  return changeVersion(sql, given, async (tx, row) => {
    requireMove(row, "archived");
    const moved = await markDefinitionArchived(tx, row.id);
    if (!moved) throw new Error(`Cannot archive definition ${row.id}, which is locked and deprecated`);
    await insertAuditEntry(tx, auditOf(given.writer, row, "definition.archive"));
    await insertDefinitionEvents(tx, { type: "definition.archived", definitionIds: [row.id] });
    return requireRow(tx, row.id, given.writer);
  });
}
