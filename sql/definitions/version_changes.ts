/** Writes to `definitions`: new drafts, edits, status changes, new renderings. */
import { anyRow, type Sql, tableRows } from "../connection/pool.ts";
import type { DefinitionContent, DefinitionRow, DefinitionRuntime } from "./fields.ts";

/** Settings of a draft that are not part of its document. */
type DraftSettings = Pick<
  DefinitionRow,
  "visibility" | "tier" | "provenance" | "changeSummary" | "changeType"
>;

/** Returns SQL null for null; a JSON null would be a value. */
function jsonOrNull(sql: Sql, value: unknown) {
  return value === null ? null : sql.json(value as never);
}

export type NewDefinition = DefinitionContent &
  DraftSettings &
  Pick<DefinitionRow, "lineId" | "orgId" | "type" | "name" | "version" | "authorId">;

/**
 * Inserts drafts and returns their ids, in the same order. Violates definitions_line_id_version_key if a line has the
 * version.
 */
export async function insertDefinitions(sql: Sql, rows: readonly NewDefinition[]): Promise<string[]> {
  const inserted = await sql<{ id: string; lineId: string; version: string }[]>`
    insert into definitions (
      line_id, org_id, type, name, version, visibility, tier, yaml, hash, json_hash, display_name, description, domain,
      subdomain, agent_type, author, author_id, provenance, tags, change_summary, change_type, runtime_md, prompt_hash,
      translator_version, translation_error
    )
    select
      line_id, org_id, type, name, version, visibility, tier, yaml, hash, hash, display_name, description, domain,
      subdomain, agent_type, author, author_id, provenance, tags, change_summary, change_type, runtime_md, prompt_hash,
      translator_version, translation_error
    from ${tableRows(sql, "definitions", rows)} as n
    returning id, line_id, version`;
  const ids = new Map(inserted.map(({ id, lineId, version }) => [`${lineId} ${version}`, id]));
  return rows.map(({ lineId, version }) => {
    const id = ids.get(`${lineId} ${version}`);
    if (id === undefined)
      throw new Error(`Cannot find version ${version} of line ${lineId} after its insert`);
    return id;
  });
}

/**
 * Updates a draft; false if it is no longer a draft. `updated_at` always grows, because `expectedUpdatedAt` compares it: two
 * writes may have begun in one millisecond, and a clock may be set back.
 */
export async function updateDraft(
  sql: Sql,
  draft: { id: string } & DefinitionContent & DraftSettings,
): Promise<boolean> {
  return anyRow(sql`
    update definitions
    set yaml = ${draft.yaml}, hash = ${draft.hash}, json_hash = ${draft.hash}, display_name = ${draft.displayName},
      description = ${draft.description}, domain = ${draft.domain}, subdomain = ${draft.subdomain},
      agent_type = ${draft.agentType}, author = ${draft.author}, tags = ${draft.tags},
      visibility = ${draft.visibility}, tier = ${draft.tier}, provenance = ${jsonOrNull(sql, draft.provenance)},
      change_summary = ${draft.changeSummary}, change_type = ${draft.changeType}, runtime_md = ${draft.runtimeMd},
      prompt_hash = ${draft.promptHash}, translator_version = ${draft.translatorVersion},
      translation_error = ${jsonOrNull(sql, draft.translationError)},
      updated_at = greatest(now(), updated_at + interval '1 millisecond')
    where id = ${draft.id} and status = 'draft'
    returning id`);
}

/** Replaces the rendering of a version in any status: the only part of a published version that can change. */
export async function updateDefinitionRuntime(
  sql: Sql,
  row: { id: string } & DefinitionRuntime,
): Promise<void> {
  await sql`
    update definitions
    set runtime_md = ${row.runtimeMd}, prompt_hash = ${row.promptHash},
      translator_version = ${row.translatorVersion},
      translation_error = ${jsonOrNull(sql, row.translationError)},
      updated_at = greatest(now(), updated_at + interval '1 millisecond')
    where id = ${row.id}`;
}

/** A draft to publish, with its final rendering. */
export interface PublishedDefinition extends DefinitionRuntime {
  id: string;
  riskProfile: unknown;
}

/** Publishes drafts and returns how many; versions that are no longer drafts are left out. */
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

/** Deprecates a published version; false if it is no longer published. */
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

/** Archives a deprecated version; false if it is no longer deprecated. */
export async function markDefinitionArchived(sql: Sql, id: string): Promise<boolean> {
  return anyRow(sql`
    update definitions
    set status = 'archived', archived_at = now(), updated_at = now()
    where id = ${id} and status = 'deprecated'
    returning id`);
}

/** Deletes a draft and its dependent rows; false if it is no longer a draft. */
export async function deleteDraft(sql: Sql, id: string): Promise<boolean> {
  return anyRow(sql`
    delete from definitions
    where id = ${id} and status = 'draft'
    returning id`);
}
