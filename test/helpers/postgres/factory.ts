/**
 * Creates rows for tests with unique names and sensible defaults. A test can set every column. The factory inserts with
 * its own SQL, not with the product's queries.
 */
import { randomBytes } from "node:crypto";
import { mintApiKey, mintSessionToken } from "../../../api/http/credentials.ts";
import type { KeyKind, KeyScope, OrgRole, SubscriptionTier } from "../../../shared/vocabulary.ts";
import type { Pool, Sql } from "../../../sql/connection/pool.ts";

/** Values by camelCase column name. Objects and arrays become jsonb. */
export type Columns = Readonly<Record<string, unknown>>;

export interface Identified {
  id: string;
}

/** A number that is higher than all run numbers that tests choose. */
const FIRST_RUN_NUMBER = 100_000_000;

let lastNumber = 0;

/** Returns a number that is unique in this process. */
function nextNumber(): number {
  lastNumber += 1;
  return lastNumber;
}

/** Returns a lower-case name that is unique in this test run. */
function uniqueName(stem: string): string {
  return `${stem}-${nextNumber()}-${randomBytes(3).toString("hex")}`;
}

async function insert<Row extends object>(
  sql: Sql,
  table: string,
  columns: Columns,
  returning: readonly string[] = ["id"],
): Promise<Row> {
  const values = Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [name, isJson(value) ? sql.json(value) : value]),
  );
  const [row] = await sql<Row[]>`insert into ${sql(table)} ${sql(values)} returning ${sql([...returning])}`;
  if (!row) throw new Error(`Cannot insert into ${table}: no row came back`);
  await nextMillisecond();
  return row;
}

/**
 * Waits for the next millisecond, so that successive rows have different creation times. Bun returns from a shorter
 * sleep at once, so a loop of such sleeps would keep a core busy.
 */
async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await Bun.sleep(1);
}

/** Returns true for a value that the driver would reject or send as a PostgreSQL array. */
function isJson(value: unknown): value is never {
  return typeof value === "object" && value !== null && !Buffer.isBuffer(value) && !(value instanceof Date);
}

export interface UserRow extends Identified {
  username: string;
  email: string;
}

export interface OrgRow extends Identified {
  slug: string;
  name: string;
}

export interface ProjectRow extends Identified {
  orgId: string;
  name: string;
  slug: string;
}

/** A row of a tracker table. */
export interface TrackerRow extends Identified {
  projectId: string;
}

export interface KeyOptions {
  userId: string;
  orgId?: string | null;
  kind?: KeyKind;
  scope?: KeyScope;
  name?: string | null;
  expiresAt?: string | null;
  revokedAt?: string | null;
  lastUsedAt?: string | null;
}

export interface PersonOptions {
  role?: OrgRole;
  tier?: SubscriptionTier;
  kind?: KeyKind;
  scope?: KeyScope;
  /** The organization to join instead of a new one. `tier` is then ignored. */
  org?: OrgRow;
}

/** A user with a personal organization and a membership in another organization, and a key for both organizations. */
export interface Person {
  user: UserRow;
  personalOrg: OrgRow;
  org: OrgRow;
  keyId: string;
  key: string;
}

export interface Factory extends Rows {
  /**
   * Creates rows in one transaction. On a Citus cluster, each transaction that writes tracker rows opens a connection
   * to a node.
   */
  together<Result>(work: (make: Rows) => Promise<Result>): Promise<Result>;
}

interface Rows {
  user(columns?: Columns): Promise<UserRow>;
  org(columns?: Columns): Promise<OrgRow>;
  member(columns: { orgId: string; userId: string; role?: OrgRole }): Promise<void>;
  key(options: KeyOptions): Promise<Identified & { key: string }>;
  session(columns: { userId: string } & Columns): Promise<Identified & { token: string }>;
  person(options?: PersonOptions): Promise<Person>;
  project(columns: { orgId: string; ownerId: string } & Columns): Promise<ProjectRow>;
  run(columns: { projectId: string } & Columns): Promise<TrackerRow>;
  snapshot(columns: { projectId: string; runId: string } & Columns): Promise<TrackerRow>;
  issue(columns: { projectId: string } & Columns): Promise<TrackerRow>;
  occurrence(columns: { projectId: string; issueId: string; runId: string } & Columns): Promise<TrackerRow>;
  note(columns: { projectId: string; issueId: string } & Columns): Promise<TrackerRow>;
  statusChange(columns: { projectId: string; issueId: string } & Columns): Promise<TrackerRow>;
  summary(columns: { projectId: string; runId: string } & Columns): Promise<TrackerRow>;
  record(columns: { projectId: string; runId: string } & Columns): Promise<TrackerRow>;
}

/** Creates the factory for a database. */
export function createFactory(sql: Pool): Factory {
  const rowsOf = (of: Sql): Rows => ({ ...people(of), ...tracker(of) });
  return {
    ...rowsOf(sql),
    async together<Result>(work: (make: Rows) => Promise<Result>) {
      const { made } = await sql.begin(async (tx) => ({ made: await work(rowsOf(tx)) }));
      return made;
    },
  };
}

function people(sql: Sql): Pick<Rows, "user" | "org" | "member" | "key" | "session" | "person" | "project"> {
  async function user(columns: Columns = {}): Promise<UserRow> {
    const username = uniqueName("user");
    // No password matches this hash, because the text after the salt is not a valid digest.
    const passwordHash = "$argon2id$v=19$m=65536,t=2,p=1$bm9ib2R5$bm9ib2R5";
    const defaults = { username, email: `${username}@example.com`, passwordHash };
    return insert(sql, "users", { ...defaults, ...columns }, ["id", "username", "email"]);
  }

  async function org(columns: Columns = {}): Promise<OrgRow> {
    const slug = uniqueName("org");
    const defaults = { slug, name: `Organization ${slug}`, subscriptionTier: "pro" };
    return insert(sql, "organizations", { ...defaults, ...columns }, ["id", "slug", "name"]);
  }

  async function member(columns: { orgId: string; userId: string; role?: OrgRole }): Promise<void> {
    await insert(sql, "organization_members", { role: "owner", ...columns }, ["role"]);
  }

  async function key(options: KeyOptions): Promise<Identified & { key: string }> {
    const { secret, hash, prefix } = mintApiKey();
    const row = await insert<Identified>(sql, "api_keys", { prefix, keyHash: hash, ...options });
    return { ...row, key: secret };
  }

  async function session(columns: { userId: string } & Columns): Promise<Identified & { token: string }> {
    const { secret, hash } = mintSessionToken();
    const defaults = { tokenHash: hash, expiresAt: "2999-01-01T00:00:00.000Z" };
    const row = await insert<Identified>(sql, "sessions", { ...defaults, ...columns });
    return { ...row, token: secret };
  }

  async function person(options: PersonOptions = {}): Promise<Person> {
    const { role = "owner", tier = "pro", kind = "user", scope = "write" } = options;
    const made = await user();
    const personalOrg = await org({ slug: made.username, isPersonal: true, subscriptionTier: "free" });
    await member({ orgId: personalOrg.id, userId: made.id, role: "owner" });
    const joined = options.org ?? (await org({ subscriptionTier: tier }));
    await member({ orgId: joined.id, userId: made.id, role });
    const minted = await key({ userId: made.id, kind, scope });
    return { user: made, personalOrg, org: joined, keyId: minted.id, key: minted.key };
  }

  async function project(columns: { orgId: string; ownerId: string } & Columns): Promise<ProjectRow> {
    const slug = uniqueName("project");
    const defaults = { slug, name: `Project ${slug}` };
    return insert(sql, "projects", { ...defaults, ...columns }, ["id", "orgId", "name", "slug"]);
  }

  return { user, org, member, key, session, person, project };
}

type TrackerTables = Pick<
  Rows,
  "run" | "snapshot" | "issue" | "occurrence" | "note" | "statusChange" | "summary" | "record"
>;

function tracker(sql: Sql): TrackerTables {
  async function make(table: string, defaults: Columns, columns: Columns): Promise<TrackerRow> {
    return insert(sql, table, { ...defaults, ...columns }, ["id", "projectId"]);
  }
  return {
    run: (columns) =>
      make(
        "runs",
        {
          runNumber: FIRST_RUN_NUMBER + nextNumber(),
          workflowType: "review",
          timestamp: "2026-01-01T00:00:00.000Z",
        },
        columns,
      ),
    snapshot: (columns) => make("agent_snapshots", { name: "reviewer", decision: "PASS" }, columns),
    issue: (columns) =>
      make(
        "issues",
        {
          fingerprint: randomBytes(32).toString("hex"),
          title: uniqueName("issue"),
          status: "open",
          priority: "high",
          firstSeenRunId: crypto.randomUUID(),
          lastSeenRunId: crypto.randomUUID(),
        },
        columns,
      ),
    occurrence: (columns) => make("occurrences", { agentName: "reviewer" }, columns),
    note: (columns) => make("issue_notes", { content: "Seen again", noteType: "context" }, columns),
    statusChange: (columns) => make("status_history", { newStatus: "completed" }, columns),
    summary: (columns) =>
      make(
        "analysis_summaries",
        { agentName: "reviewer", agentType: "validator", decision: "PASS" },
        columns,
      ),
    record: (columns) =>
      make(
        "analysis_records",
        {
          agentName: "reviewer",
          agentType: "validator",
          recordType: "finding",
          recordId: uniqueName("record"),
          title: "A record",
          recordData: { weight: 1 },
        },
        columns,
      ),
  };
}
