/** `bun run bench growth`: what a unit costs when there are ten times as many of something. */
import type { BenchRun } from "./bench_run.ts";
import type { FigureTable } from "./figures.ts";
import { growClients } from "./growth_clients.ts";
import { growDefinitions } from "./growth_definitions.ts";
import { growProjects } from "./growth_projects.ts";
import { GROWTH_HEADER } from "./growth_row.ts";

export async function benchGrowth(run: BenchRun): Promise<FigureTable[]> {
  const tables: FigureTable[] = [];
  for (const grow of [growProjects, growDefinitions, growClients]) {
    const { title, rows } = await grow(run);
    tables.push({ title, header: GROWTH_HEADER, rows });
  }
  return tables;
}
