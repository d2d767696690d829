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
  const parts = query.parts.filter(({ level }) => mayCount(query, level));
  const filters = count(parts, ({ level }) => level === "filter");
  const isSearch = parts.some(({ level }) => typeof level === "number");
  const isMember = parts.some(({ level }) => level === "member");
  return sql`
    wanted as (
      ${wantedTerms(sql, parts)}
      ${isMember ? sql`union all select ${OWN}, 0, 'org=' || own.org_id from (${ownOrgIds(sql, query)}) as own` : sql``}
    ), parts as materialized (
      select w.level, w.part, p.chunk, bit_or(p.bits) as bits
      from wanted as w
      join definition_postings as p on p.term = w.term
      group by w.level, w.part, p.chunk
    ), ${sql.unsafe(isMember ? MEMBER_SCOPE : PUBLIC_SCOPE)},
    listed as materialized (
      select chunk, bit_and(bits) as bits
      from (
        select chunk, bits from scope
        union all
        select chunk, bits from parts where level = ${FILTER}
      ) as filtered
      group by chunk
      having count(*) = ${filters + 1}
    ), ${isSearch ? searchTiers(sql, parts) : sql.unsafe(LISTED_TIERS)}`;
}

/** With one organization only its own rows count; who belongs to none sees none as a member. */
function mayCount({ orgId, viewer }: MatchQuery, level: PostingPart["level"]): boolean {
  if (level === "public") return orgId === null;
  if (level === "member") return orgId !== null || viewer.userId !== null;
  return true;
}

const PUBLIC_SCOPE = `scope as ${partsOf(PUBLIC)}`;

/**
 * What everybody sees, with the viewer's own organizations cut out and put in again as their members see them. The
 * exclusive or of both scopes is where these differ: where it is the viewer's own, the one turns into the other.
 */
const MEMBER_SCOPE = `scope as (
      select
        chunk,
        case
          when own.bits is null then open.bits
          when open.bits is null then member.bits & own.bits
          when member.bits is null then open.bits & ~ own.bits
          else open.bits # ((open.bits # member.bits) & own.bits)
        end as bits
      from ${partsOf(PUBLIC)} as open
      full join ${partsOf(OWN)} as own using (chunk)
      left join ${partsOf(MEMBER)} as member using (chunk)
      where open.bits is not null or member.bits is not null
    )`;

function partsOf(level: number): string {
  return `(select chunk, bits from parts where level = ${level})`;
}

const LISTED_TIERS = "tiers as materialized (select 0 as level, chunk, bits from listed)";

/** The slots of each level that are in no better one. */
function searchTiers(sql: Sql, parts: readonly PostingPart[]) {
  const levels = [...new Set(parts.flatMap(({ level }) => (typeof level === "number" ? [level] : [])))];
  const sizes = levels.map((level) => count(parts, (part) => part.level === level));
  return sql`sizes as (
      select * from unnest(${levels}::int[], ${sizes}::int[]) as size (level, parts)
    ), levels as materialized (
      select p.level, p.chunk, bit_and(p.bits) as bits
      from (
        select level, chunk, bits from parts where level >= 0
        union all
        select s.level, l.chunk, l.bits from sizes as s cross join listed as l
      ) as p
      join sizes as s on s.level = p.level
      group by p.level, p.chunk, s.parts
      having count(*) = s.parts + 1
    ), tiers as materialized (
      select
        l.level,
        l.chunk,
        case when l.better is null then l.bits else l.bits & ~ l.better end as bits
      from (
        select
          level,
          chunk,
          bits,
          bit_or(bits) over (
            partition by chunk order by level rows between unbounded preceding and 1 preceding
          ) as better
        from levels
      ) as l
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
    ${levelCounts(sql)}
    order by level`;
}

/** Selects a `LevelCount` for each level of `tiers`. */
export function levelCounts(sql: Sql) {
  return sql`
    select level, sum(bit_count(bits))::bigint as total
    from tiers
    group by level`;
}

export interface LevelCount {
  level: number;
  total: number;
}

export function sumOf(counts: readonly LevelCount[]): number {
  return counts.reduce((sum, { total }) => sum + total, 0);
}
