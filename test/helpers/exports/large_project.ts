/** Creates projects with many issues, for exports that exceed all buffers between server and client. */
import type { TestApp } from "../http/app.ts";
import type { ExportProject } from "./export_project.ts";

/** Creates a project with this many issues of about 1 KB, and a user who may export it. */
export async function makeLargeProject(
  app: TestApp,
  issues: number,
): Promise<Pick<ExportProject, "person" | "project">> {
  const person = await app.make.person();
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  await app.db.sql`
    insert into issues
      (project_id, fingerprint, title, status, priority, file_path, first_seen_run_id, last_seen_run_id, created_at)
    select
      ${project.id}, md5(n::text) || md5(n::text || 'x'), 'Issue ' || n, 'open', 'high', repeat('x', 800),
      gen_random_uuid(), gen_random_uuid(), timestamptz '2026-01-01' + n * interval '1 second'
    from generate_series(1, ${issues}::int) as n`;
  return { person, project };
}
