/** Creates projects with few but long rows, whose exports exceed all buffers between server and client. */
import type { TestDatabase } from "../postgres/database.ts";
import type { Factory } from "../postgres/factory.ts";
import { withoutTriggers } from "../postgres/without_triggers.ts";
import type { ExportProject } from "./export_project.ts";

/** The smallest number of rows for which an export uses two connections. */
export const WIDE_ISSUES = 20_000;

/**
 * Creates a project with WIDE_ISSUES issues of about 3 KB, 60 MB in total, and a user who may export it. A stalled
 * download that reads over two database connections buffers at most 40 MB, including all sockets. The compressed export
 * is 20 MB. In Parquet, the first row group alone exceeds the socket buffers.
 */
export async function makeWideProject({
  db,
  make,
}: {
  db: TestDatabase;
  make: Factory;
}): Promise<Pick<ExportProject, "person" | "project">> {
  const person = await make.person();
  const project = await make.project({ orgId: person.org.id, ownerId: person.user.id });
  await withoutTriggers(
    db,
    (tx) => tx`
      insert into issues (
        project_id, fingerprint, title, status, priority, failure_mode, first_seen_run_id, last_seen_run_id, created_at
      )
      select
        ${project.id}, md5(n::text) || md5(n::text || 'x'), 'Issue ' || n, 'open', 'high',
        repeat('x', 520) || (select string_agg(md5(n || ' ' || m), '') from generate_series(1, 60) as m),
        gen_random_uuid(), gen_random_uuid(), timestamptz '2026-01-01' + n * interval '1 second'
      from generate_series(1, ${WIDE_ISSUES}::int) as n`,
  );
  return { person, project };
}
