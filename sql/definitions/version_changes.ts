/** Writes to table `definitions`: inserts, edits and deletes drafts, changes the status, and replaces renderings. */
import { anyRow, fragment, type Sql, tableRows } from "../connection/pool.ts";
import type { DefinitionContent, DefinitionRow, DefinitionRuntime } from "./fields.ts";

/** Settings of a draft that are not part of its document. */
type DraftSettings = Pick<
  DefinitionRow,
  "visibility" | "tier" | "provenance" | "changeSummary" | "changeType"
>;

const RUNTIME_COLUMNS = fragment`runtime_md, prompt_hash, translator_version, translation_error`;

/** The columns of a draft that an edit can change. */
const DRAFT_COLUMNS = fragment`
  visibility, tier, provenance, change_summary, change_type, yaml, hash, display_name, description, domain, subdomain,
  agent_type, author, tags, ${RUNTIME_COLUMNS}`;

export type NewDefinition = DefinitionContent &
  DraftSettings &
  Pick<DefinitionRow, "id" | "lineId" | "orgId" | "type" | "name" | "version" | "authorId">;

/** Inserts drafts. Throws a violation of `definitions_line_id_version_key` if a line already has the version. */
export async function insertDefinitions(sql: Sql, rows: readonly NewDefinition[]): Promise<void> {
  await sql`
    insert into definitions (id, line_id, org_id, type, name, version, author_id, ${DRAFT_COLUMNS}, json_hash)
    select id, line_id, org_id, type, name, version, author_id, ${DRAFT_COLUMNS}, hash
    from ${tableRows(sql, "definitions", rows)} as n`;
}

/**
 * Updates a draft. Returns false if the version is no longer a draft. Every update increases `updated_at`, because
 * `expectedUpdatedAt` is compared with it. The current time alone does not ensure an increase: two writes can start in the same
 * millisecond, and a clock can be set back.
 */
export async function updateDraft(
  sql: Sql,
  draft: { id: string } & DefinitionContent & DraftSettings,
): Promise<boolean> {
  return anyRow(sql`
    update definitions
    set (${DRAFT_COLUMNS}, json_hash) = (
        select ${DRAFT_COLUMNS}, hash
        from ${tableRows(sql, "definitions", [draft])} as n
      ),
      updated_at = greatest(now(), updated_at + interval '1 millisecond')
    where id = ${draft.id} and status = 'draft'
    returning id`);
}

/** Replaces the rendering of a version in any status. The rendering is the only content of a published version that can change. */
export async function updateDefinitionRuntime(
  sql: Sql,
  row: { id: string } & DefinitionRuntime,
): Promise<void> {
  await sql`
    update definitions
    set (${RUNTIME_COLUMNS}) = (
        select ${RUNTIME_COLUMNS}
        from ${tableRows(sql, "definitions", [row])} as n
      ),
      updated_at = greatest(now(), updated_at + interval '1 millisecond')
    where id = ${row.id}`;
}

/** A draft to publish, with its final rendering. */
export interface PublishedDefinition extends DefinitionRuntime {
  id: string;
  riskProfile: unknown;
}

/** Publishes drafts and returns the number of published versions. Versions that are no longer drafts are skipped. */
export async function markDefinitionsPublished(
  sql: Sql,
  rows: readonly PublishedDefinition[],
): Promise<number> {
  const { count } = await sql`
    update definitions as d
    set status = 'published', published_at = now(), updated_at = now(), runtime_md = p.runtime_md,
      prompt_hash = p.prompt_hash, translator_version = p.translator_version,
      translation_error = p.translation_error, risk_profile = p.risk_profile
    from ${tableRows(sql, "definitions", rows)} as p
    where d.id = p.id and d.status = 'draft'`;
  return count;
}

/** Deprecates a published version. Returns false if the version is no longer published. */
export async function markDefinitionDeprecated(
  sql: Sql,
  row: { id: string; reason: string; successor: string | null },
): Promise<boolean> {
  return anyRow(sql`
    update definitions
    set status = 'deprecated', deprecated_at = now(), updated_at = now(), deprecation_reason = ${row.reason},
      successor = ${row.successor}
    where id = ${row.id} and status = 'published'
    returning id`);
}

/** Archives a deprecated version. Returns false if the version is no longer deprecated. */
export async function markDefinitionArchived(sql: Sql, id: string): Promise<boolean> {
  return anyRow(sql`
    update definitions
    set status = 'archived', archived_at = now(), updated_at = now()
    where id = ${id} and status = 'deprecated'
    returning id`);
}

/** Deletes a draft and its dependent rows. Returns false if the version is no longer a draft. */
export async function deleteDraft(sql: Sql, id: string): Promise<boolean> {
  return anyRow(sql`
    delete from definitions
    where id = ${id} and status = 'draft'
    returning id`);
}
