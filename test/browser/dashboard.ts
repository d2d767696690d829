/** Opens the dashboard in a real browser, with a real API process on its own database. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { OrgRole, SubscriptionTier } from "../../shared/vocabulary.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import {
  type Columns,
  createFactory,
  type Factory,
  type OrgRow,
  type UserRow,
} from "../helpers/postgres/factory.ts";
import { type ApiProcess, startApi } from "../helpers/process/api_process.ts";
import { spawnRunner } from "../helpers/process/runner_process.ts";
import { launchBrowser, openVisit } from "./browser.ts";

/** A signed-in user with a personal organization, who is also a member of `org`. */
export interface Member {
  user: UserRow;
  org: OrgRow;
  token: string;
}

export interface Dashboard extends AsyncDisposable {
  db: TestDatabase;
  make: Factory;
  api: ApiProcess;
  browser: Browser;
  /** Creates a member of `org`, by default of a new organization. */
  member(options?: { role?: OrgRole; tier?: SubscriptionTier; org?: OrgRow }): Promise<Member>;
  /** Inserts the row of an export job without queueing the job. Returns the job's id. */
  job(member: Member, columns?: Columns): Promise<string>;
  /** Starts a job runner; `await using` stops it. */
  startRunner(): AsyncDisposable;
  /** Opens a page and runs `look` on it. Throws if the page recorded a fault. */
  visit(options: VisitOptions, look: (page: Page) => Promise<void>): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  path: string;
  /** The signed-in user; anonymous if omitted. */
  as?: Pick<Member, "token">;
}

/** Starts a database, an API and a browser. `env` is added to the API's variables. */
export async function openDashboard(env: Readonly<Record<string, string>> = {}): Promise<Dashboard> {
  // If a step fails, everything already started is stopped.
  await using started = new AsyncDisposableStack();
  const db = started.use(await openTestDatabase());
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-dashboard-"));
  started.defer(() => rm(dataDir, { recursive: true, force: true }));
  const browser = await launchBrowser();
  started.defer(() => browser.close());
  const variables = { DATABASE_URL: db.url, DATA_DIR: dataDir };
  const api = started.use(await startApi({ ...variables, RATE_LIMIT_ANONYMOUS_PER_MINUTE: "1000", ...env }));
  const lifetime = started.move();
  const make = createFactory(db.sql);
  return {
    db,
    make,
    api,
    browser,
    member: (options) => makeMember(make, options),
    job: (member, columns) => makeJob(db, member, columns),
    startRunner: () => spawnRunner(variables),
    async visit({ path, as, ...options }, look) {
      const token = as ? { token: as.token } : {};
      await using visit = await openVisit(browser, { origin: api.url, ...token, ...options });
      await visit.page.goto(path);
      await look(visit.page);
      if (visit.faults.length > 0)
        throw new Error(`Something went wrong on ${path}: ${visit.faults.join("; ")}`);
    },
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

async function makeMember(
  make: Factory,
  { role = "publisher", tier = "pro", org }: { role?: OrgRole; tier?: SubscriptionTier; org?: OrgRow } = {},
): Promise<Member> {
  const person = await make.person({ role, tier, ...(org ? { org } : {}) });
  const { token } = await make.session({ userId: person.user.id });
  return { user: person.user, org: person.org, token };
}

async function makeJob(db: TestDatabase, { user, org }: Member, columns: Columns = {}): Promise<string> {
  const [{ number }] = await db.sql<[{ number: number }]>`
    select coalesce(max(number), 0) + 1 as number from export_jobs where org_id = ${org.id}`;
  const row = {
    number,
    orgId: org.id,
    requestedBy: user.id,
    status: "queued",
    format: "ndjson",
    includeDeleted: false,
    includeArchived: false,
    includeSuperseded: false,
    includeResolved: true,
    asOf: new Date().toISOString(),
    ...columns,
  };
  const [made] = await db.sql<{ id: string }[]>`insert into export_jobs ${db.sql(row)} returning id`;
  if (!made) throw new Error("Cannot make a job: no row came back");
  return made.id;
}
