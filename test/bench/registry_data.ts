/** Makes a registry to search: words as rare as words are, three versions a line, most of it public. */
import type { Pool, Sql } from "../../sql/connection/pool.ts";

/** Lines that are made in one statement, which bounds what their triggers hold in memory. */
const BATCH_LINES = 2500;
const LINES_PER_ORG = 50;
/** The most frequent words; those that follow are made of syllables. */
export const COMMON_WORDS = `review code security test agent check quality release report data analysis audit
  document deploy plan build error change design model service project issue run score log policy risk access
  contract market patient claim study lesson article`.split(/\s+/);
const SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo xu za bre clo dra fle gri pla sto tre".split(
  " ",
);
const WORDS = 20_000;

export interface BenchRegistry {
  /** Somebody with drafts and private versions in three organizations. */
  userId: string;
}

/** Makes `lines` lines with three versions each; `note` hears how far it is. */
export async function makeBenchRegistry(
  sql: Pool,
  lines: number,
  note: (text: string) => void = () => {},
): Promise<BenchRegistry> {
  await sql`select setseed(0.5)`;
  await makeWords(sql);
  const orgs = Math.ceil(lines / LINES_PER_ORG);
  const userId = await makePeople(sql, orgs);
  // Word by word they would take as long as everything else.
  const wordIndexes = await sql<{ name: string; statement: string }[]>`
    select indexname as name, replace(indexdef, ' ON ONLY ', ' ON ') as statement
    from pg_indexes
    where tablename = 'definition_listings' and indexdef like '% USING gin %'`;
  for (const { name } of wordIndexes) await sql`drop index ${sql(name)}`;
  for (let first = 0; first < lines; first += BATCH_LINES) {
    const last = Math.min(first + BATCH_LINES, lines) - 1;
    await makeLines(sql, { first, last, orgs });
    note(`${(last + 1).toLocaleString("en")} of ${lines.toLocaleString("en")}`);
  }
  note("indexes of words");
  for (const { statement } of wordIndexes) await sql.unsafe(statement);
  note("vacuum");
  await sql`vacuum (analyze) definitions, definition_lines, definition_listings`;
  return { userId };
}

async function makeWords(sql: Pool): Promise<void> {
  const words = [...COMMON_WORDS];
  for (let number = 1; words.length < WORDS; number += 1) words.push(formatNumber(number));
  await sql`create table bench_words (rank int primary key, word text not null)`;
  await sql`
    insert into bench_words (rank, word)
    select rank, word from unnest(${words}::text[]) with ordinality as w (word, rank)`;
  // The word of rank r comes up with a probability that falls as 1 / r does: Zipf's law.
  await sql`
    create function bench_text(words int) returns text language sql volatile as $$
      select string_agg((select w.word from bench_words as w where w.rank = picked.rank), ' ')
      from (select floor(exp(random() * ln(20000)))::int as rank from generate_series(1, words) offset 0) as picked
    $$`;
}

/** A number in syllables. */
function formatNumber(number: number): string {
  const rest = Math.floor(number / SYLLABLES.length);
  const syllable = SYLLABLES[number % SYLLABLES.length] ?? "";
  return rest === 0 ? `${syllable}n` : `${syllable}${formatNumber(rest)}`;
}

async function makePeople(sql: Pool, orgs: number): Promise<string> {
  const [user] = await sql<[{ id: string }]>`
    insert into users (username, email, password_hash)
    values ('bench', 'bench@example.com', '$argon2id$v=19$m=65536,t=2,p=1$bm9ib2R5$bm9ib2R5')
    returning id`;
  await sql`
    create table bench_orgs as
    with made as (
      insert into organizations (slug, name)
      select 'bench-' || number, 'Bench ' || number from generate_series(0, ${orgs - 1}::int) as number
      returning id, slug
    )
    select substr(slug, 7)::int as number, id from made`;
  await sql`
    insert into organization_members (org_id, user_id, role)
    select id, ${user.id}, 'owner' from bench_orgs where number < 3`;
  return user.id;
}

async function makeLines(sql: Pool, range: { first: number; last: number; orgs: number }): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      insert into definition_lines (org_id, type, name, forked_from_id, execution_count, created_at)
      select
        o.id,
        (array['agent', 'command', 'workflow', 'pipeline'])[1 + floor(random() ^ 2 * 4)::int],
        replace(coalesce(bench_text(2), 'x'), ' ', '-') || '-' || line.number,
        case when random() < 0.1 then gen_random_uuid() end,
        floor(exp(random() * 10)) - 1,
        '2023-01-01'::timestamptz + line.number * interval '10 minutes'
      from generate_series(${range.first}::int, ${range.last}::int) as line (number)
      join bench_orgs as o on o.number = line.number % ${range.orgs}::int`;
    // Of three versions the first is mostly archived or deprecated, and the last a draft one time in five.
    await tx`
      insert into definitions (
        line_id, org_id, type, name, version, status, visibility, yaml, hash, display_name, description, domain, agent_type,
        author_id, provenance, tags, change_type, deprecation_reason, created_at, updated_at, published_at,
        deprecated_at, archived_at
      )
      select
        l.id, l.org_id, l.type, l.name, major || '.0.0', s.status, s.visibility, 'agent: {}',
        'sha256:' || repeat('0', 64), coalesce(bench_text(3), 'Bench'), coalesce(bench_text(18), ''),
        (array['software', 'security', 'general', 'content', 'legal', 'medical', 'education'])[1 + floor(random() ^ 2 * 7)::int],
        case when l.type = 'agent' then (array['validator', 'executor', 'analyst'])[1 + floor(random() * 3)::int] end,
        u.id, case when random() < 0.5 then '{"authorshipType": "human"}'::jsonb end,
        string_to_array(coalesce(bench_text(2), 'x'), ' '), 'major',
        case when s.status in ('deprecated', 'archived') then 'old' end,
        l.created_at + major * interval '3 days', l.created_at + major * interval '4 days',
        case when s.status <> 'draft' then l.created_at end,
        case when s.status in ('deprecated', 'archived') then l.created_at end,
        case when s.status = 'archived' then l.created_at end
      from definition_lines as l
      cross join generate_series(1, 3) as major
      cross join lateral (
        select
          case
            when major = 3 and random() < 0.2 then 'draft'
            when major = 1 and random() < 0.3 then 'archived'
            when random() < 0.1 then 'deprecated'
            else 'published'
          end as status,
          case when random() < 0.8 then 'public' when random() < 0.7 then 'private' else 'unlisted' end as visibility
        where l.id is not null
      ) as s
      cross join users as u
      where not exists (select from definitions as d where d.line_id = l.id)`;
  });
}

export const STRANGER_DRAFTS = 50;

/** Makes private drafts, as long as they may be, of words that begin alike. */
export async function makeStrangerDrafts(sql: Sql): Promise<void> {
  await sql`
    with line as (
      insert into definition_lines (org_id, type, name)
      select o.id, 'agent', 'stranger-' || n
      from bench_orgs as o
      cross join generate_series(1, ${STRANGER_DRAFTS}::int) as n
      where o.number = 3
      returning id, org_id, type, name
    )
    insert into definitions (
      line_id, org_id, type, name, version, yaml, hash, display_name, description, author_id, change_type
    )
    select
      l.id, l.org_id, l.type, l.name, '1.0.0', 'agent: {}', 'sha256:' || repeat('0', 64), 'Code of a stranger',
      left((select string_agg('code' || md5(l.name || n)::varchar(6), ' ') from generate_series(1, 400) as n), 4000),
      u.id, 'major'
    from line as l
    cross join (select id from users limit 1) as u`;
}
