/** The SQL of the peers: prepared statements, the same for all of them. */
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
export const PROFILE: Statement = {
  name: "profile",
  text: `select id, username, name, bio, website_url as "websiteUrl", avatar, avatar_mime_type as "avatarMimeType"
    from users
    where id = $1`,
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

/** The columns of a registry item: `definitions d`, its line `l` and its organization `o`. */
const DEFINITION_COLUMNS = `d.id, d.type, d.name, d.version, d.status, d.domain, d.subdomain, d.agent_type as "agentType",
  d.display_name as "displayName", d.description, d.author, d.authorship_type as "authorshipType", d.tags,
  d.author_id as "authorId", d.org_id as "orgId", d.tier, d.visibility, d.created_at as "createdAt",
  d.updated_at as "updatedAt", d.published_at as "publishedAt", l.execution_count::int as "executionCount",
  l.unique_execution_count::int as "uniqueExecutionCount", l.fork_count::int as "forkCount",
  l.star_count::int as "starCount", l.forked_from_id as "forkedFromId", '@' || o.slug || '/' || d.name as namespace,
  l.first_published_at as "releasedAt"`;
export const DEFINITION: Statement = {
  name: "definition",
  text: `select ${DEFINITION_COLUMNS}, d.yaml, d.hash, d.provenance, d.runtime_md as "runtimeMd",
      d.prompt_hash as "promptHash", d.translator_version as "translatorVersion",
      d.translation_error as "translationError", d.risk_profile as "riskProfile", d.deprecated_at as "deprecatedAt",
      d.deprecation_reason as "deprecationReason", d.successor
    from definition_lines l
    join definitions d on d.line_id = l.id
    join organizations o on o.id = d.org_id
    where l.type = $1 and l.name = $2 and d.status = 'published' and d.visibility <> 'private'
    order by l.first_published_at, d.version_major desc, d.version_minor desc, d.version_patch desc
    limit 1`,
};

/**
 * The latest public version of every line with its text vector: what a typical server would keep for fast lists and
 * searches, with the indexes that PostgreSQL's documentation recommends.
 */
export const LISTED_TABLE = `
  create table bench_listed as
    select distinct on (d.line_id) d.id, d.created_at,
      to_tsvector('english', d.name || ' ' || d.display_name || ' ' || d.description) as words
    from definitions d
    where d.status in ('published', 'deprecated') and d.visibility = 'public'
    order by d.line_id, d.version_major desc, d.version_minor desc, d.version_patch desc;
  create index on bench_listed (created_at desc, id desc);
  create index on bench_listed using gin (words);
  analyze bench_listed`;

const FROM_PAGE = `from page p
    join definitions d on d.id = p.id
    join definition_lines l on l.id = d.line_id
    join organizations o on o.id = d.org_id`;
export const LIST: Statement = {
  name: "list",
  text: `with page as (select id, created_at from bench_listed order by created_at desc, id desc limit $1)
    select ${DEFINITION_COLUMNS} ${FROM_PAGE} order by p.created_at desc, p.id desc`,
};
export const LIST_COUNT: Statement = {
  name: "list_count",
  text: "select count(*)::int as total from bench_listed",
};
export const SEARCH: Statement = {
  name: "search",
  text: `with page as (
      select id, ts_rank(words, query) as rank
      from bench_listed, websearch_to_tsquery('english', $2) as query
      where words @@ query
      order by rank desc, id
      limit $1
    )
    select ${DEFINITION_COLUMNS} ${FROM_PAGE} order by p.rank desc, p.id`,
};
export const SEARCH_COUNT: Statement = {
  name: "search_count",
  text: "select count(*)::int as total from bench_listed where words @@ websearch_to_tsquery('english', $1)",
};

/** The condition under which a parent `p` is hidden by default, with all rows under it. */
const VISIBLE_PARENT = {
  issues: "p.id = r.issue_id and p.deleted_at is null",
  runs: "p.id = r.run_id and p.archived_at is null",
} as const;

/** The rows `r` of a dataset in project `$1` at instant `$2`. */
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

/** The rows with the service's column names, in the same order. */
export function rowsStatement(name: ExportDatasetName): string {
  const { columns, timeColumn } = EXPORT_DATASETS[name];
  const what = columns.map((column) => `r."${column.column}" as "${column.name}"`).join(", ");
  return `${selectRows(name, what)} order by r.${timeColumn}, r.id`;
}
