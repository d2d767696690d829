/** Records executions over HTTP and reads the counters. */
import type { TestApp } from "../http/app.ts";
import { ask, type Caller, write } from "./definitions.ts";

export interface Recorded {
  recorded: boolean;
  duplicate: boolean;
  definition: { id: string; type: string; name: string; version: string };
  executionCount: number;
}

export interface Statistics {
  totalCount: number;
  recentCount: number;
  windowMinutes: number;
  byTime?: { time: string; count: number }[];
  bySource?: { source: string; count: number }[];
  byVersion?: { version: string; count: number }[];
}

/** Creates a platform admin who belongs to no organization. Platform admins may record executions. */
export async function makePlatformAdmin(api: TestApp): Promise<Caller> {
  const user = await api.make.user({ platformRole: "admin" });
  return api.make.key({ userId: user.id });
}

export async function record(
  api: Pick<TestApp, "request">,
  caller: Caller,
  path: string,
  body: unknown,
): Promise<Recorded & { status: number }> {
  const response = await write(api, `${path}/executions`, caller, { body });
  const { data } = (await response.json()) as { data: Recorded };
  return { status: response.status, ...data };
}

export async function statisticsOf(
  api: TestApp,
  path: string,
  query = "",
  caller: Caller | null = null,
): Promise<Statistics> {
  const response = await ask(api, `${path}/executions${query}`, caller);
  return ((await response.json()) as { data: Statistics }).data;
}

/** Returns a line's counters, and the same counts computed from the tables of executions, hours and audit entries. */
export async function countsOf(api: TestApp, name: string) {
  const [row] = await api.db.sql`
    select
      l.execution_count, l.unique_execution_count,
      (select count(*) from definition_executions where line_id = l.id) as records,
      (select count(distinct recorded_by) from definition_executions where line_id = l.id) as callers,
      (select coalesce(sum(count), 0)::int from definition_execution_hours where line_id = l.id) as in_hours,
      (select count(*) from audit_log where action = 'execution.record' and details ->> 'name' = l.name) as audited
    from definition_lines as l
    where l.name = ${name}`;
  return row;
}
