/** Finds versions by name, as JSON for responses. */
import type { DefinitionType } from "../../shared/vocabulary.ts";
import type { Sql } from "../connection/pool.ts";
import { joinDefinition, type ShownTexts } from "./json.ts";
import { DEFINITION_TABLES, type DefinitionQuery, type ResolvedDefinition, resolveName } from "./versions.ts";

/** A version as JSON, with the values that a response needs beside it. */
export interface DefinitionTextRow {
  id: string;
  orgId: string;
  type: DefinitionType;
  name: string;
  version: string;
  deprecatedAt: string | null;
  successor: string | null;
  /** The document or its rendering, as requested by `text` of the query; null if there is none. */
  text: string | null;
  /** A `Definition` as JSON text. */
  json: string;
}

export type TextsQuery = ShownTexts & { text: "yaml" | "runtimeMd" | null };

const TEXT_COLUMNS = { yaml: "d.yaml", runtimeMd: "d.runtime_md" } as const;

/** Resolves a name on a read to a version as JSON, with one of its texts. */
export async function resolveDefinitionText(
  sql: Sql,
  query: DefinitionQuery,
  { text, ...shown }: TextsQuery,
): Promise<ResolvedDefinition<DefinitionTextRow>> {
  return resolveName<DefinitionTextRow>(
    sql,
    query,
    sql`
      select
        d.id, d.org_id, d.type, d.deprecated_at, d.successor,
        ${sql.unsafe(text === null ? "null" : TEXT_COLUMNS[text])} as text, d.name, d.version,
        row_to_json(shown)::text as json
      from ${sql.unsafe(DEFINITION_TABLES)}
      ${joinDefinition(sql, shown, query.viewer)}`,
  );
}
