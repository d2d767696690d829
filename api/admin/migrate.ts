/** `migrate`: applies pending migrations. */
import { migrate } from "../../sql/migrate.ts";
import { defineCommand } from "./command.ts";

export const migrateCommand = defineCommand({
  name: "migrate",
  about: "Applies pending migrations; two at once take turns.",
  flags: {},
  needsMigrations: false,
  async run({ sql, progress }) {
    const applied = await migrate(sql, (name) => progress(`Applied ${name}`));
    const text =
      applied.length === 0
        ? "The database is current."
        : `Applied ${applied.length} migrations; the database is current.`;
    return { json: { applied }, text };
  },
});
