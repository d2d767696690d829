/** Lists definitions over HTTP, and inserts versions with given column values. */
import type {
  AUTHORSHIP_TYPES,
  DefinitionStatus,
  DefinitionTier,
  DefinitionType,
  DefinitionVisibility,
} from "../../../shared/vocabulary.ts";
import { openPool, type Sql } from "../../../sql/connection/pool.ts";
import type { DefinitionFilters } from "../../../sql/definitions/list/list_scope.ts";
import type { TestApp } from "../http/app.ts";
import { ask, type Caller } from "./definitions.ts";

export interface DefinitionList {
  definitions: (Readonly<Record<string, unknown>> & { id: string; name: string; version: string })[];
  total: number;
  limit: number;
  offset: number;
  hasMore: boolean;
}

/** The filters of a list request that sets no filter. */
export const ALL_DEFINITIONS: DefinitionFilters = {
  type: null,
  status: null,
  agentType: null,
  domain: null,
  tier: null,
  visibility: null,
  organizations: [],
  authorId: null,
  authorshipType: null,
  isFork: null,
  tags: [],
  latestOnly: true,
  publishedFirst: false,
};

/** Opens a pool with one connection for list queries. */
export function openLists({ url }: { url: string }) {
  const listSql = openPool(url, { applicationName: "test", max: 1 });
  return { listSql, [Symbol.asyncDispose]: () => listSql.end({ timeout: 1 }) };
}

/** Lists definitions; throws on an error. `query` is the query string without the question mark. */
export async function list(
  api: Pick<TestApp, "request">,
  query: string,
  caller: Caller | null = null,
): Promise<DefinitionList> {
  const response = await ask(api, `?${query}`, caller);
  const body = (await response.json()) as { data?: DefinitionList };
  if (!body.data) throw new Error(`Cannot list definitions: ${response.status} ${JSON.stringify(body)}`);
  return body.data;
}

/** Returns `name@version` of each listed definition, in order. */
export async function listed(
  api: Pick<TestApp, "request">,
  query: string,
  caller: Caller | null = null,
): Promise<string[]> {
  return (await list(api, query, caller)).definitions.map(({ name, version }) => `${name}@${version}`);
}

export interface VersionColumns {
  orgId: string;
  authorId: string;
  name: string;
  type?: DefinitionType;
  version?: string;
  status?: DefinitionStatus;
  visibility?: DefinitionVisibility;
  tier?: DefinitionTier;
  displayName?: string;
  description?: string;
  domain?: string;
  agentType?: string | null;
  authorshipType?: (typeof AUTHORSHIP_TYPES)[number] | null;
  tags?: readonly string[];
  createdAt?: string;
  updatedAt?: string;
  /** A column of the line, like the two counts below. All three are ignored if the line already exists. */
  isFork?: boolean;
  executionCount?: number;
  uniqueExecutionCount?: number;
}

const AT = "2026-01-02T00:00:00.000Z";

/**
 * Creates a version, public and published by default, and its line if the line does not exist yet. Returns the
 * version's id.
 */
export async function makeVersion(sql: Sql, columns: VersionColumns): Promise<string> {
  const {
    orgId,
    name,
    type = "agent",
    status = "published",
    createdAt = AT,
    authorshipType = null,
  } = columns;
  const ended = status === "deprecated" || status === "archived" ? AT : null;
  const [row] = await sql<[{ id: string }]>`
    insert into definitions ${sql({
      lineId: await makeLine(sql, columns),
      orgId,
      type,
      name,
      version: columns.version ?? "1.0.0",
      status,
      visibility: columns.visibility ?? "public",
      tier: columns.tier ?? "org",
      yaml: "agent: {}",
      hash: `sha256:${"0".repeat(64)}`,
      displayName: columns.displayName ?? name,
      description: columns.description ?? "",
      domain: columns.domain ?? "software",
      agentType: columns.agentType ?? null,
      authorId: columns.authorId,
      provenance: authorshipType === null ? null : sql.json({ authorshipType }),
      tags: columns.tags ?? [],
      changeType: "major",
      createdAt,
      updatedAt: columns.updatedAt ?? createdAt,
      publishedAt: status === "draft" ? null : AT,
      deprecatedAt: ended,
      archivedAt: status === "archived" ? AT : null,
      deprecationReason: ended === null ? null : "Made anew",
    })}
    returning id`;
  return row.id;
}

async function makeLine(sql: Sql, columns: VersionColumns): Promise<string> {
  const {
    orgId,
    name,
    type = "agent",
    isFork = false,
    executionCount = 0,
    uniqueExecutionCount = 0,
  } = columns;
  const [line] = await sql<[{ id: string }]>`
    insert into definition_lines (org_id, type, name, forked_from_id, execution_count, unique_execution_count)
    values (
      ${orgId}, ${type}, ${name}, ${isFork ? crypto.randomUUID() : null}, ${executionCount}, ${uniqueExecutionCount}
    )
    on conflict on constraint definition_lines_org_id_type_name_key do update set name = excluded.name
    returning id`;
  return line.id;
}
