/** `bun run bench definitions`: reads, lists and searches of the registry over HTTP. */
import { openTestDatabase } from "../helpers/postgres/database.ts";
import type { BenchRun } from "./bench_run.ts";
import { compareReads } from "./compare_loads.ts";
import { startComparedServers } from "./compared_servers.ts";
import { makeReadRegistry } from "./definitions_data.ts";
import type { FigureTable } from "./figures.ts";
import { LISTED_TABLE } from "./peers/read_statements.ts";

/** Pages and searches against Fastify. */
const RATIO = { atLeast: 1 };

export async function benchDefinitions(run: BenchRun): Promise<FigureTable[]> {
  const { command, sizes } = run;
  const lines = sizes.definitionLines.toLocaleString("en");
  await using db = await openTestDatabase(run.serverUrl);
  const { reads } = await command.progress.step(`Making ${lines} lines with three versions each`, () =>
    makeReadRegistry(db, sizes.definitionLines),
  );
  await db.owner.unsafe(LISTED_TABLE);
  await using servers = await startComparedServers(run, db);
  const title = `A registry of ${lines} lines with three versions each, for 32 connections`;
  return await compareReads(run, servers, { title, reads, ratio: RATIO });
}
