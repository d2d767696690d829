/** SQL of the peers, where it differs from the service's SQL. */
import { EXPORT_DATASETS, type ExportDatasetName } from "../../../shared/exports/datasets.ts";

/** A statement that is prepared under its name once per connection. */
export interface Statement {
  name: string;
  text: string;
}

export const CALLER: Statement = {
  name: "caller",
  text: `select u.id as "userId", u.username, u.platform_role, k.id as "keyId", k.kind, k.scope, k.org_id, k.expires_at
    from api_keys k
    join users u on u.id = k.user_id
    where k.key_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
};

const MODEL_COLUMNS = `m.provider, m.model_id as "modelId", m.name, m.family, m.tier, m.status,
  json_build_object('vision', m.has_vision, 'tools', m.has_tools, 'streaming', m.has_streaming,
    'reasoning', m.has_reasoning, 'structuredOutput', m.has_structured_output,
    'attachment', m.has_attachment) as capabilities,
  json_build_object('context', m.context_tokens, 'output', m.output_tokens) as limits,
  json_build_object('input', m.input_usd_per_mtok, 'output', m.output_usd_per_mtok,
    'cacheRead', m.cache_read_usd_per_mtok, 'cacheWrite', m.cache_write_usd_per_mtok) as cost,
  m.release_date::text as "releaseDate"`;
export const MODELS: Statement = {
  name: "models",
  text: `select ${MODEL_COLUMNS}
    from models m
    where m.removed_at is null
    order by m.provider, m.model_id
    limit $1 offset $2`,
};
export const MODEL_COUNT: Statement = {
  name: "model_count",
  text: "select count(*)::int as total from models where removed_at is null",
};
export const MODELS_NAMED: Statement = {
  name: "models_named",
  text: `select ${MODEL_COLUMNS}
    from models m
    where m.removed_at is null and (m.name ilike $3 or m.model_id ilike $3)
    order by m.provider, m.model_id
    limit $1 offset $2`,
};
export const MODEL_COUNT_NAMED: Statement = {
  name: "model_count_named",
  text: `select count(*)::int as total from models
    where removed_at is null and (name ilike $1 or model_id ilike $1)`,
};
export const ALIASES: Statement = {
  name: "aliases",
  text: `select a.alias, a.provider, a.model_id as "modelId", a.scope, a.deprecated
    from model_aliases a
    join unnest($1::text[], $2::text[]) as k (provider, model_id) using (provider, model_id)`,
};
export const RESOLVE: Statement = {
  name: "resolve",
  text: `select ${MODEL_COLUMNS}, m.description, m.model_id as "providerModelId",
      json_build_object('input', m.input_modalities, 'output', m.output_modalities) as modalities,
      m.knowledge_cutoff::text as "knowledgeCutoff", m.is_open_weights as "openWeights",
      (select max(finished_at) from catalog_syncs) as "syncedAt"
    from model_aliases a
    join models m on m.provider = a.provider and m.model_id = a.model_id
    where a.alias = $1`,
};

/** The condition for a parent `p` that is visible by default. A hidden parent hides all rows below it. */
const VISIBLE_PARENT = {
  issues: "p.id = r.issue_id and p.deleted_at is null",
  runs: "p.id = r.run_id and p.archived_at is null",
} as const;

/** Returns a query of the rows `r` of a dataset in project `$1` up to cutoff `$2`. */
function selectRows(name: ExportDatasetName, what: string): string {
  const { table, timeColumn, parents, flags } = EXPORT_DATASETS[name];
  const conditions = ["r.project_id = $1", `r.${timeColumn} <= $2`];
  if (name === "issues") conditions.push("r.deleted_at is null");
  if (name === "runs") conditions.push("r.archived_at is null");
  if (flags.includes("include_superseded")) conditions.push("r.superseded_at is null");
  for (const parent of parents) {
    conditions.push(
      `exists (select from ${parent} p where p.project_id = $1 and p.created_at <= $2 and ${VISIBLE_PARENT[parent]})`,
    );
  }
  return `select ${what} from ${table} r where ${conditions.join(" and ")}`;
}

export function countStatement(name: ExportDatasetName): string {
  return selectRows(name, "count(*)::int as total");
}

/** Returns a query of the rows of a dataset, with the service's column names and row order. */
export function rowsStatement(name: ExportDatasetName): string {
  const { columns, timeColumn } = EXPORT_DATASETS[name];
  const what = columns.map((column) => `r."${column.column}" as "${column.name}"`).join(", ");
  return `${selectRows(name, what)} order by r.${timeColumn}, r.id`;
}
