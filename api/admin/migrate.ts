/** `migrate`: applies pending migrations, or reports their state. */
import type { Pool } from "../../sql/connection/pool.ts";
import { migrate } from "../../sql/migrate.ts";
import { listMigrationProblems } from "../../sql/migration_check.ts";
import { addBundledHistory } from "../../sql/models/bundled_history.ts";
import { readSchemaState } from "../../sql/schema_state.ts";
import {
  AdminError,
  type CommandContext,
  type CommandResult,
  defineCommand,
  UsageError,
} from "./command/command.ts";
import { withThousands } from "./command/format_output.ts";

export const migrateCommand = defineCommand({
  name: "migrate",
  about: "Applies pending migrations. Run it as the owner of the tables.",
  flags: {
    check: { about: "changes nothing; exits with 1 and prints a line for each problem" },
    status: { about: "changes nothing; lists applied and pending migrations" },
  },
  allowsPendingMigrations: true,
  async run(context, values) {
    if (values.check && values.status) throw new UsageError("Pass either --check or --status");
    if (values.check) return check(context);
    return values.status ? showStatus(context) : apply(context);
  },
});

/** Reports every migration up to this number. Of more migrations, reports every tenth if stderr is not a terminal. */
const LINES_STEP = 10;

async function apply({ sql, progress, tick, warn }: CommandContext): Promise<CommandResult> {
  let rehashed = 0;
  const { applied, unknown } = await migrate(sql, {
    onApplied: (name, count, total) => {
      const text = `Applied ${count} of ${total}: ${name}`;
      if (total <= LINES_STEP || count % LINES_STEP === 0) progress(text);
      else tick(() => text);
    },
    onNotice: warn,
    onRehashed: (done, total) => {
      rehashed = done;
      if (done < total)
        progress(`Recomputed ${withThousands(done)} of ${withThousands(total)} hashes of definitions`);
    },
  });
  if (unknown.length > 0) {
    return {
      json: { applied, unknown },
      text: `Nothing to apply: a newer release has migrated this database up to "${unknown.at(-1)}".`,
    };
  }
  const text =
    applied.length === 0
      ? "Already up to date."
      : `Applied ${applied.length} migration${applied.length === 1 ? "" : "s"}. The database is up to date.`;
  const lines = rehashed > 0 ? [`Recomputed hashes of definitions: ${withThousands(rehashed)}.`] : [];
  const catalog = await completeCatalog(sql);
  return {
    json: { applied, ...(rehashed > 0 ? { rehashed } : {}), ...catalog.json },
    text: [text, ...lines, ...catalog.lines].join("\n"),
  };
}

/** Adds the bundled price history to an older installation's catalog. A new installation already has the history. */
async function completeCatalog(sql: Pool) {
  const past = await addBundledHistory(sql);
  if (!past) return { lines: [], json: {} };
  const { changes, models, gone, since } = past;
  const line =
    `Added the known past of prices: ${withThousands(changes)} changes of ${withThousands(models)} models since ${since.slice(0, 10)}. ` +
    `${withThousands(gone)} of the models were gone before the first sync. Recorded prices stay as they were.`;
  return { lines: [line], json: { past } };
}

async function check({ sql }: CommandContext): Promise<CommandResult> {
  const problems = await listMigrationProblems(sql);
  if (problems.length > 0) throw new AdminError(problems.join("\n"));
  return { json: { problems }, text: "No problems found." };
}

async function showStatus({ sql }: CommandContext): Promise<CommandResult> {
  const { applied, pending, unknown, requiredMigration } = await readSchemaState(sql);
  const lines = [
    ...applied.map(({ name, appliedAt }) => `applied  ${appliedAt}  ${name}`),
    ...unknown.map((name) => `unknown  ${" ".repeat(24)}  ${name}`),
    ...pending.map((name) => `pending  ${" ".repeat(24)}  ${name}`),
    ...(requiredMigration === null
      ? []
      : [`Only releases that include "${requiredMigration}" can use this database.`]),
  ];
  return { json: { applied, pending, unknown, requiredMigration }, text: lines.join("\n") };
}
