/** Creates projects and registries of a given size, and runs psql, the baseline for exports. */
import { type ExportDataset, NO_FILTERS, toVisibility } from "../../shared/exports/datasets.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { copyStatement as exportStatement } from "../../sql/exports/copy_rows.ts";
import { FORMATS, rowsQuery } from "../../sql/exports/dataset_file.ts";
import type { ExportSelection } from "../../sql/exports/select_rows.ts";
import type { TestDatabase } from "../helpers/postgres/database.ts";
import type { Factory, Person, ProjectRow } from "../helpers/postgres/factory.ts";

/** Rows per issue, over all datasets. */
export const ROWS_AN_ISSUE = 2.3;

/** Inserts issues that take about 1 KB each in NDJSON, like real ones. */
async function insertIssues(sql: Sql, projectId: string, count: number): Promise<void> {
  await sql`
    insert into issues (
      project_id, fingerprint, semantic_fingerprint, title, status, priority, severity, failure_code, failure_domain,
      failure_severity_code, category, agent, type, file_path, line_number, times_seen, first_seen_run_id,
      last_seen_run_id, deleted_at, created_at, updated_at
    )
    select
      ${projectId},
      md5(n::text) || md5(n::text || 'a'),
      md5((n % 5000)::text) || md5((n % 5000)::text || 'b'),
      'Result of "' || md5(n::text) || '" is used before it is checked — line ' || n % 900,
      case when n % 3 = 0 then 'completed' else 'open' end,
      case when n % 7 = 0 then 'critical' else 'suggested' end,
      'medium', 'lint/correctness/noUnchecked', 'SEM', 'M', 'correctness', 'agent-' || n % 9, 'bug',
      'packages/core/src/' || md5((n % 700)::text) || '/handler.ts', n % 900, 1 + n % 20,
      md5('run' || n % 50)::uuid, md5('run' || n % 30)::uuid,
      case when n % 50 = 0 then now() end,
      timestamptz '2026-01-01' + n * interval '7 seconds', now()
    from generate_series(1, ${count}::int) as n
    order by n`;
}

/** Inserts runs, occurrences, status history and analysis records, in the usual proportions to `issues` issues. */
async function insertChildren(sql: Sql, projectId: string, issues: number): Promise<void> {
  const runs = Math.max(1, Math.floor(issues / 500));
  await sql`
    insert into runs (project_id, run_number, workflow_type, "timestamp", raw_markdown, created_at)
    select ${projectId}, n, 'review', now(), repeat(md5(n::text) || E'\\n', 300),
      timestamptz '2026-01-01' + n * interval '1 minute'
    from generate_series(1, ${runs}::int) as n`;
  await sql`
    insert into occurrences (project_id, issue_id, run_id, agent_name, description, file_path, line_number, created_at)
    select i.project_id, i.id, r.id, 'reviewer', 'Seen again: ' || i.title, i.file_path, i.line_number, i.created_at
    from issues as i
    join runs as r on r.project_id = i.project_id and r.run_number = 1 + i.line_number % ${runs}::int
    where i.project_id = ${projectId}`;
  await sql`
    insert into status_history (project_id, issue_id, old_status, new_status, reason, changed_at)
    select project_id, id, 'open', 'completed', 'Not found any more', created_at
    from issues
    where project_id = ${projectId} and status = 'completed'`;
  await sql`
    insert into analysis_records
      (project_id, run_id, agent_name, agent_type, record_type, record_id, title, record_data, created_at)
    select r.project_id, r.id, 'reviewer', 'validator', 'rule-group', 'rule-' || n, 'Group ' || n,
      jsonb_build_object('files', (
        select jsonb_agg(jsonb_build_object('path', md5(f::text), 'findings', f)) from generate_series(1, 40) as f
      )), r.created_at
    from runs as r, generate_series(1, 10) as n
    where r.project_id = ${projectId}`;
}

/** Inserts `issues` issues and their dependent rows, created from 2026-01-01 on. */
export async function fillProject(sql: Sql, projectId: string, issues: number): Promise<void> {
  await insertIssues(sql, projectId, issues);
  await insertChildren(sql, projectId, issues);
}

/** Creates a project with `issues` issues and, if `withChildren`, their dependent rows. */
export async function makeBenchProject(
  given: { db: TestDatabase; make: Factory; person: Person },
  issues: number,
  withChildren: boolean,
): Promise<ProjectRow> {
  const { db, make, person } = given;
  const project = await make.project({ orgId: person.org.id, ownerId: person.user.id });
  await insertIssues(db.sql, project.id, issues);
  if (withChildren) await insertChildren(db.sql, project.id, issues);
  return project;
}

/** The number of definition lines per transaction, small enough to bound the memory that triggers need. */
const BATCH_LINES = 2500;
const LINES_PER_ORG = 50;
/** The most frequent words of the registry. Rarer words consist of syllables. */
export const COMMON_WORDS = `review code security test agent check quality release report data analysis audit
  document deploy plan build error change design model service project issue run score log policy risk access
  contract market patient claim study lesson article`.split(/\s+/);
const SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo xu za bre clo dra fle gri pla sto tre".split(
  " ",
);
const WORDS = 20_000;

export interface BenchRegistry {
  /** The id of a user who owns three organizations with drafts and private versions. */
  userId: string;
}

/** Creates `lines` definition lines with three versions each. Reports progress to `note`. */
export async function makeBenchRegistry(
  sql: Pool,
  lines: number,
  note: (text: string) => void = () => {},
): Promise<BenchRegistry> {
  await sql`select setseed(0.5)`;
  await makeWords(sql);
  const orgs = Math.ceil(lines / LINES_PER_ORG);
  const userId = await makePeople(sql, orgs);
  // Maintaining the GIN indexes row by row would take as long as all other steps, so they are rebuilt at the end.
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
  // The frequency of the word of rank r is proportional to 1 / r (Zipf's law).
  await sql`
    create function bench_text(words int) returns text language sql volatile as $$
      select string_agg((select w.word from bench_words as w where w.rank = picked.rank), ' ')
      from (select floor(exp(random() * ln(20000)))::int as rank from generate_series(1, words) offset 0) as picked
    $$`;
}

/** Converts a number to a word made of syllables. */
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
    // The first of a line's three versions is archived with a probability of 0.3. The last is a draft with a probability of 0.2.
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

/**
 * Creates private drafts in an organization that the user of `BenchRegistry` does not belong to. Their descriptions have the
 * maximum length and consist of words with a common prefix.
 */
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

/** The cutoff of all exports: in the past, but later than all rows of a benchmark. */
export const AS_OF = "2026-06-01T00:00:00.000Z";

/** Returns the selection of an export with default parameters. */
function everythingOf(project: { id: string }): ExportSelection {
  return {
    trackerSchema: "public",
    projectId: project.id,
    asOf: AS_OF,
    visibility: toVisibility({}),
    filters: NO_FILTERS,
  };
}

/** Returns the COPY statement of a dataset export, on one line. */
export function copyStatement(dataset: ExportDataset, project: { id: string }, format: ExportFormat): string {
  const query = rowsQuery(dataset, everythingOf(project), format).replaceAll(/\s+/g, " ");
  return exportStatement(query, FORMATS[format].copy(dataset.columns));
}

/** Returns a shell command that runs the statement of `copyStatement` with psql. */
export function copyCommand(dataset: ExportDataset, project: { id: string }, format: ExportFormat): string {
  const copy = quoteShell(copyStatement(dataset, project, format));
  return `psql --no-psqlrc --quiet "$DATABASE_URL" --command "set timezone = 'UTC'" --command ${copy}`;
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Runs a shell script that reads the database's URL from `$DATABASE_URL`. Throws if the script fails or prints an error. Returns
 * the CPU seconds of the shell and its children.
 */
export async function runShell(db: TestDatabase, script: string): Promise<{ clientCpu: number }> {
  const child = Bun.spawn(["sh", "-c", script], {
    env: { ...process.env, DATABASE_URL: db.url },
    stdout: "ignore",
    stderr: "pipe",
  });
  const [stderr, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (exitCode !== 0 || stderr.includes("ERROR"))
    throw new Error(`Cannot run psql: ${stderr.slice(0, 2000)}`);
  return { clientCpu: Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1e6 };
}
