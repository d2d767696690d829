/** Table `model_aliases`: short names of models. An operator's row overrides the generated row of the same name. */
import type { ModelAliasOrigin, ModelAliasScope } from "../../shared/vocabulary.ts";
import { type Sql, tableRows } from "../connection/pool.ts";
import type { ModelKey } from "./models.ts";

/** An alias as a sync writes it. */
export interface ModelAlias extends ModelKey {
  alias: string;
  /** True if the model is deprecated or the alias is no longer generated. */
  deprecated: boolean;
}

export interface ModelAliasRow extends ModelAlias {
  origin: ModelAliasOrigin;
  scope: ModelAliasScope;
}

/** Lists all aliases by name. An operator's alias follows the generated alias that it overrides. */
export async function listModelAliases(sql: Sql): Promise<ModelAliasRow[]> {
  return sql<ModelAliasRow[]>`
    select alias, origin, provider, model_id, scope, deprecated
    from model_aliases
    order by alias collate "C", origin collate "C"`;
}

/** Inserts or updates generated aliases. Aliases of operators are unchanged. */
export async function upsertGeneratedAliases(sql: Sql, aliases: readonly ModelAlias[]): Promise<void> {
  if (aliases.length === 0) return;
  await sql`
    insert into model_aliases (alias, origin, provider, model_id, deprecated)
    select alias, 'generated', provider, model_id, deprecated
    from ${tableRows(sql, "model_aliases", aliases)} as r
    on conflict (alias, origin) do update
    set provider = excluded.provider, model_id = excluded.model_id, deprecated = excluded.deprecated,
      updated_at = now()`;
}
