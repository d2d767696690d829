/**
 * The bitmap index of definitions: which slots a list has, by ANDing and ORing bit strings of 32,768 slots each. So
 * exact totals and the choice of a page cost next to nothing, however many definitions there are.
 */
import type { PostingPart } from "./definition_terms.ts";
import { type DefinitionViewer, memberOrgIds } from "./definition_visibility.ts";
import type { Sql } from "./pool.ts";

/** What a list is made of. */
export interface MatchQuery {
  viewer: DefinitionViewer;
  /** The one organization that counts, of which the viewer is a member; `null` when all do. */
  orgId: string | null;
  parts: readonly PostingPart[];
}

const PUBLIC = -2;
const MEMBER = -3;
const OWN = -4;
const FILTER = -1;

/**
 * Common table expressions up to `tiers` (level, chunk, bits): the slots that match, each in the best level it is in;
 * level 0 when nothing is searched for.
 */
export function matchTiers(sql: Sql, query: MatchQuery) {
  const parts = query.parts.filter(({ level }) => level !== "public" || query.orgId === null);
  const filters = count(parts, ({ level }) => level === "filter");
  const isSearch = parts.some(({ level }) => typeof level === "number");
  return sql`
    wanted as (
      ${wantedTerms(sql, parts)}
      union all
      select ${OWN}, 0, 'org=' || own.org_id from (${ownOrgIds(sql, query)}) as own
    ), parts as materialized (
      select w.level, w.part, p.chunk, bit_or(p.bits) as bits
      from wanted as w
      join definition_postings as p on p.term = w.term
      group by w.level, w.part, p.chunk
    ), scope as materialized (
      select
        p.chunk,
        coalesce(bit_or(p.bits) filter (where p.level = ${PUBLIC}), 0::bit(32768)) as listed,
        coalesce(bit_or(p.bits) filter (where p.level = ${MEMBER}), 0::bit(32768)) as listed_to_members,
        coalesce(bit_or(p.bits) filter (where p.level = ${OWN}), 0::bit(32768)) as own,
        coalesce(bit_and(p.bits) filter (where p.level = ${FILTER}), ~ 0::bit(32768)) as filtered
      from parts as p
      where p.level < 0
      group by p.chunk
      having count(*) filter (where p.level = ${FILTER}) = ${filters}
    ), listed as materialized (
      select s.chunk, ((s.listed & ~ s.own) | (s.listed_to_members & s.own)) & s.filtered as bits
      from scope as s
    ), ${isSearch ? searchTiers(sql, parts) : sql`tiers as materialized (select 0 as level, chunk, bits from listed)`}`;
}

/** The slots of each level that are in no better one. */
function searchTiers(sql: Sql, parts: readonly PostingPart[]) {
  const levels = [...new Set(parts.flatMap(({ level }) => (typeof level === "number" ? [level] : [])))];
  const sizes = levels.map((level) => count(parts, (part) => part.level === level));
  return sql`levels as materialized (
      select p.level, p.chunk, bit_and(p.bits & l.bits) as bits
      from unnest(${levels}::int[], ${sizes}::int[]) as size (level, parts)
      join parts as p on p.level = size.level
      join listed as l on l.chunk = p.chunk
      group by p.level, p.chunk, size.parts
      having count(*) = size.parts
    ), tiers as materialized (
      select
        l.level,
        l.chunk,
        l.bits & ~ coalesce(
          bit_or(l.bits) over (
            partition by l.chunk order by l.level rows between unbounded preceding and 1 preceding
          ),
          0::bit(32768)
        ) as bits
      from levels as l
    )`;
}

function wantedTerms(sql: Sql, parts: readonly PostingPart[]) {
  const rows = parts.flatMap((part) =>
    "term" in part
      ? [{ level: part.level === "public" ? PUBLIC : MEMBER, part: 0, term: part.term }]
      : part.terms.map((term) => ({
          level: part.level === "filter" ? FILTER : part.level,
          part: part.part,
          term,
        })),
  );
  return sql`
    select distinct w.level, w.part, w.term
    from unnest(
      ${rows.map(({ level }) => level)}::int[],
      ${rows.map(({ part }) => part)}::int[],
      ${rows.map(({ term }) => term)}::text[]
    ) as w (level, part, term)`;
}

/** The organizations whose drafts and private versions are listed too. */
function ownOrgIds(sql: Sql, { orgId, viewer }: MatchQuery) {
  return orgId === null ? memberOrgIds(sql, viewer) : sql`select ${orgId}::uuid as org_id`;
}

function count<Item>(items: readonly Item[], isCounted: (item: Item) => boolean): number {
  return items.filter(isCounted).length;
}

/** How many slots match in each level, the best first. */
export async function countMatches(sql: Sql, query: MatchQuery): Promise<LevelCount[]> {
  return sql<LevelCount[]>`
    with ${matchTiers(sql, query)}
    select level, sum(bit_count(bits))::bigint as total
    from tiers
    group by level
    order by level`;
}

export interface LevelCount {
  level: number;
  total: number;
}
