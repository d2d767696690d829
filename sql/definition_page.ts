/** A page of a list of definitions, found in the way that costs least: matches sorted, or an order walked through. */
import { type LevelCount, type MatchQuery, sumOf } from "./definition_matches.ts";
import {
  type Bucket,
  bucketKey,
  countBuckets,
  type DefinitionOrder,
  sortsByLine,
} from "./definition_order.ts";
import { listInOrder, listSorted } from "./definition_page_rows.ts";
import type { PageEntry } from "./definition_page_steps.ts";
import type { Sql } from "./pool.ts";

/** Microseconds, as measured on a registry of 100,000 lines: looking up a match by its slot and sorting it, … */
const SORT_COST = 5;
/** … walking past a listing in an order of versions, or of lines, … */
const WALK_COST = 0.2;
const WALK_LINES_COST = 1;
/** … and what a page may cost before an order is narrowed down to some of its buckets, which costs as much. */
const CHEAP = 1500;
/** A page that is listed while its matches are counted saves a look at all the bits. */
const CHEAP_WHILE_COUNTED = 3000;
/** Of all listings, how many match a question of which nothing else is known. */
const LIKELY_SHARE = 0.1;

/** How many matches may be sorted, and how many listings walked past, while matches are counted. */
export function mostWhileCounted(order: DefinitionOrder): { mostSorted: number; mostWalked: number } {
  return {
    mostSorted: CHEAP_WHILE_COUNTED / SORT_COST,
    mostWalked: CHEAP_WHILE_COUNTED / walkCostOf(order),
  };
}

/**
 * Whether a page is likely to cost more than it may while matches are counted: far down, or in an order of lines, of which
 * a walk is dear.
 */
export function isLikelyCostly({ order, offset }: Pick<PageQuery, "order" | "offset">): boolean {
  return sortsByLine(order) || (offset / LIKELY_SHARE) * WALK_COST > CHEAP_WHILE_COUNTED;
}

export interface PageQuery {
  order: DefinitionOrder;
  limit: number;
  offset: number;
  /** How many match in each level, the best first. */
  counts: readonly LevelCount[];
  /** How many there are, whoever may see them. */
  listings: number;
}

/**
 * Lists a page: level after level, each in the order that is asked for. With nothing `cheap`, every order is narrowed
 * down as far as it can be.
 */
export async function listPage(
  sql: Sql,
  match: MatchQuery,
  page: PageQuery,
  cheap = CHEAP,
): Promise<PageEntry[]> {
  const { order, limit, listings } = page;
  const entries: PageEntry[] = [];
  let left = limit;
  for (const group of groupLevels(levelsOfPage(page), cheap)) {
    const [first] = group;
    const segment = { order, limit: Math.min(left, sumOf(group) - first.offset), offset: first.offset };
    const listed =
      group.length > 1
        ? await listSorted(sql, upTo(match, group), { ...segment, levels: group.map(({ level }) => level) })
        : await listSegment(sql, upTo(match, group), {
            ...segment,
            ...{ level: first.level, total: first.total, density: first.total / listings, cheap },
          });
    entries.push(...listed);
    left -= segment.limit;
  }
  return entries;
}

interface PageLevel extends LevelCount {
  /** Rows of the level before the page. */
  offset: number;
}

type LevelGroup = [PageLevel, ...PageLevel[]];

/** Levels beside each other are listed together as long as sorting them is cheap: each list begins with all the bits. */
function groupLevels(levels: readonly PageLevel[], cheap: number): LevelGroup[] {
  const groups: LevelGroup[] = [];
  for (const level of levels) {
    const last = groups.at(-1);
    if (last && (sumOf(last) + level.total) * SORT_COST <= cheap) last.push(level);
    else groups.push([level]);
  }
  return groups;
}

/** The levels that a page takes rows from, with how many of each come before the page. */
function levelsOfPage({ counts, limit, offset }: PageQuery): PageLevel[] {
  let before = 0;
  return counts.flatMap(({ level, total }) => {
    const start = before;
    before += total;
    const isOnPage = total > 0 && before > offset && start < offset + limit;
    return isOnPage ? [{ level, total, offset: Math.max(0, offset - start) }] : [];
  });
}

/** Without the terms of levels after the last of these. */
function upTo(match: MatchQuery, levels: readonly { level: number }[]): MatchQuery {
  const last = Math.max(...levels.map(({ level }) => level));
  return {
    ...match,
    parts: match.parts.filter(({ level }) => typeof level !== "number" || level <= last),
  };
}

/** What is wanted of one level: `limit` rows after `offset` of `total`. */
interface Segment {
  order: DefinitionOrder;
  level: number;
  limit: number;
  offset: number;
  total: number;
  /** The share of all listings that match. */
  density: number;
  cheap: number;
}

/** A stretch of an order that holds the whole segment. */
interface Stretch {
  /** What it is made of; empty when it is the whole order. */
  buckets: readonly Bucket[];
  /** Of the level, in the stretch and in it before the segment. */
  matches: number;
  offset: number;
  /** The bucket right before it in the order; `null` when there is none. */
  previous: Bucket | null;
}

/** Narrows the order down to a stretch that is cheap to sort or to walk through, and lists the segment from it. */
async function listSegment(sql: Sql, match: MatchQuery, segment: Segment): Promise<PageEntry[]> {
  const { order, level, total, limit, offset, cheap } = segment;
  let stretch: Stretch = { buckets: [], matches: total, offset, previous: null };
  for (let depth = 1; leastCost(stretch, segment) > cheap && stretch.buckets.length <= 1; depth += 1) {
    const [around] = stretch.buckets;
    const within = around ? bucketKey(around) : "";
    const enough = stretch.offset + limit;
    const buckets = await countBuckets(sql, match, { order, level, depth, within, enough });
    const narrower = narrow(stretch, buckets, limit);
    if (!narrower) break;
    stretch = narrower;
  }
  if (sortCost(stretch) > walkCost(stretch, segment)) {
    const { buckets, previous } = stretch;
    const first = buckets[0] ?? null;
    return listInOrder(sql, match, { order, level, limit, offset: stretch.offset, first, previous });
  }
  const terms = stretch.buckets.map(({ term }) => term);
  const inStretch: MatchQuery =
    terms.length === 0
      ? match
      : { ...match, parts: [...match.parts, { level: "filter", part: match.parts.length, terms }] };
  return listSorted(sql, inStretch, { order, levels: [level], limit, offset: stretch.offset });
}

function leastCost(stretch: Stretch, segment: Segment): number {
  return Math.min(sortCost(stretch), walkCost(stretch, segment));
}

function sortCost({ matches }: Stretch): number {
  return matches * SORT_COST;
}

/** As if the matches were spread evenly. */
function walkCost({ offset }: Stretch, { order, limit, density }: Segment): number {
  return ((offset + limit) / density) * walkCostOf(order);
}

function walkCostOf(order: DefinitionOrder): number {
  return sortsByLine(order) ? WALK_LINES_COST : WALK_COST;
}

/** Those buckets of a stretch that hold `limit` rows after its offset; `null` when there are no buckets. */
function narrow(stretch: Stretch, buckets: readonly Bucket[], limit: number): Stretch | null {
  let seen = 0;
  const ends = buckets.map(({ matches }) => {
    seen += matches;
    return seen;
  });
  const first = ends.findIndex((end) => end > stretch.offset);
  const last = ends.findIndex((end) => end >= stretch.offset + limit);
  if (first === -1 || last === -1) return null;
  const before = ends[first - 1] ?? 0;
  return {
    buckets: buckets.slice(first, last + 1),
    matches: (ends[last] ?? before) - before,
    offset: stretch.offset - before,
    previous: buckets[first - 1] ?? stretch.previous,
  };
}
