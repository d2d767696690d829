/** What a list of definitions asks for, as terms of the bitmap index (`definition_postings`). */
import type {
  AuthorshipType,
  DefinitionAgentType,
  DefinitionDomain,
  DefinitionStatus,
  DefinitionTier,
  DefinitionType,
  DefinitionVisibility,
} from "../shared/vocabulary.ts";

/** What a definition has to be; `null` where it does not matter. */
export interface DefinitionFilters {
  type: DefinitionType | null;
  status: DefinitionStatus | null;
  agentType: DefinitionAgentType | null;
  domain: DefinitionDomain | null;
  tier: DefinitionTier | null;
  visibility: DefinitionVisibility | null;
  authorId: string | null;
  authorshipType: AuthorshipType | null;
  isFork: boolean | null;
  /** Any of them; empty when it does not matter. */
  tags: readonly string[];
  /** Only the highest version of each line that its status and the viewer allow; the other filters come after it. */
  latestOnly: boolean;
}

/**
 * What a term counts for. Slots count that have one of the terms of every part of a level, and either `public` without
 * `own`, or `member` with it.
 */
export type PostingPart =
  | { level: "public" | "member"; term: string }
  | { level: "filter" | number; part: number; terms: readonly string[] };

/** The filters where one value at most is asked for; a term is the name, `=` and the value. */
const SINGLE_FILTERS = [
  "type",
  "agentType",
  "domain",
  "tier",
  "visibility",
  "authorId",
  "authorshipType",
  "isFork",
] as const;

/** The terms of everything that is asked for but the words. */
export function filterParts(filters: DefinitionFilters): PostingPart[] {
  const { status, latestOnly } = filters;
  const latest = status === null ? "" : `:${status}`;
  const scope = (who: "public" | "member"): PostingPart => ({
    level: who,
    term: latestOnly ? `latest=${who}${latest}` : `listed=${who}`,
  });
  const single = SINGLE_FILTERS.flatMap((name) => {
    const value = filters[name];
    return value === null ? [] : [[`${name}=${value}`]];
  });
  const groups = [
    ...single,
    ...(latestOnly || status === null ? [] : [[`status=${status}`]]),
    ...(filters.tags.length === 0 ? [] : [filters.tags.map(tagTerm)]),
  ];
  return [
    scope("public"),
    scope("member"),
    ...groups.map((terms, part): PostingPart => ({ level: "filter", part, terms })),
  ];
}

/** As `refresh_definition_listings` spells it: tags may be longer than an index takes. */
function tagTerm(tag: string): string {
  return `tag=${new Bun.CryptoHasher("md5").update(tag).digest("hex")}`;
}
