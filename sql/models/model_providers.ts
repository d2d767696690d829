/** Table `model_providers`: the providers of the catalog's models. */
import { type Sql, tableRows } from "../connection/pool.ts";

/** A provider as a sync writes it. */
export interface ModelProvider {
  id: string;
  name: string;
  docUrl: string | null;
  apiUrl: string | null;
}

export interface ModelProviderRow extends ModelProvider {
  /** Time when the source stopped listing the provider; `null` while it lists the provider. */
  removedAt: string | null;
}

/** Lists all providers by id, including providers that are gone. */
export async function listModelProviders(sql: Sql): Promise<ModelProviderRow[]> {
  return sql<ModelProviderRow[]>`
    select id, name, doc_url, api_url, removed_at
    from model_providers
    order by id collate "C"`;
}

/** Inserts or updates providers. Providers that were gone become live again. */
export async function upsertModelProviders(sql: Sql, providers: readonly ModelProvider[]): Promise<void> {
  if (providers.length === 0) return;
  await sql`
    insert into model_providers (id, name, doc_url, api_url)
    select id, name, doc_url, api_url
    from ${tableRows(sql, "model_providers", providers)} as r
    on conflict (id) do update
    set name = excluded.name, doc_url = excluded.doc_url, api_url = excluded.api_url,
      updated_at = now(), removed_at = null`;
}

/** Marks providers that the source no longer lists. */
export async function markModelProvidersGone(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update model_providers
    set removed_at = now(), updated_at = now()
    where id = any(${[...ids]}) and removed_at is null`;
}
