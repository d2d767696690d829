/** Fills a database's tracker tables with rows for a load test (docs/scaling.md). */
import { openPool } from "../../sql/connection/pool.ts";
import { allowBackfill } from "../../sql/tracker/tracker_tables.ts";
import { fillProject, ROWS_AN_ISSUE } from "../bench/bench_data.ts";
import { createFactory } from "../helpers/postgres/factory.ts";

export interface GenerateOptions {
  /** The URL of a migrated database. Its role may write tracker rows, projects and organizations. */
  url: string;
  projects: number;
  /** The approximate number of rows in all projects and datasets together. */
  rows: number;
  connections: number;
  onProgress: (text: string) => void;
}

/**
 * Creates an organization with projects of equal size, each in its own transaction. Existing rows are not changed.
 * Returns the organization's slug and an API key of its owner.
 */
export async function generateRows(options: GenerateOptions): Promise<{ slug: string; key: string }> {
  const { url, projects, rows, connections, onProgress } = options;
  const sql = openPool(url, { applicationName: "ulr-generate", max: connections });
  try {
    const make = createFactory(sql);
    const { org, user, key } = await make.person();
    const issues = Math.max(1, Math.round(rows / ROWS_AN_ISSUE / projects));
    const begun = performance.now();
    let made = 0;
    let claimed = 0;
    const fill = async (): Promise<void> => {
      while (claimed < projects) {
        claimed += 1;
        const project = await make.project({ orgId: org.id, ownerId: user.id });
        await sql.begin(async (tx) => {
          await allowBackfill(tx);
          await fillProject(tx, project.id, issues);
        });
        made += 1;
        const seconds = (performance.now() - begun) / 1000;
        const left = Math.round((seconds / made) * (projects - made));
        onProgress(`${made} of ${projects} projects, ${Math.round(seconds)} s, about ${left} s left`);
      }
    };
    await Promise.all(Array.from({ length: connections }, fill));
    return { slug: org.slug, key };
  } finally {
    await sql.end({ timeout: 1 });
  }
}
