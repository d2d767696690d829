/** Reads the migration files in `migrations/`. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const MIGRATIONS_DIR = fileURLToPath(new URL("./migrations/", import.meta.url));
/** The first line of a file whose single statement PostgreSQL cannot run in a transaction. */
const NO_TRANSACTION = /^-- no transaction\b/;

export interface Migration {
  /** File name without `.sql`. */
  name: string;
  text: string;
  /** The SHA-256 of the text, in hex. */
  checksum: string;
  /** Whether the file runs in a transaction. */
  hasTransaction: boolean;
}

/** Creates a migration from the text of a file. */
export function toMigration(name: string, text: string): Migration {
  const checksum = createHash("sha256").update(text).digest("hex");
  return { name, text, checksum, hasTransaction: !NO_TRANSACTION.test(text) };
}

/** Reads all migrations of this checkout, oldest first. */
export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(MIGRATIONS_DIR)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file) =>
      toMigration(file.slice(0, -".sql".length), await readFile(`${MIGRATIONS_DIR}${file}`, "utf8")),
    ),
  );
}
