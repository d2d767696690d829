/** Debian's PostgreSQL, for tests that run `pg_dump`, whose version must be at least the server's. */

/** Debian's folder of PostgreSQL programs; empty if PostgreSQL is not installed. */
export const [DEBIAN_POSTGRES_BIN = ""] = [
  ...new Bun.Glob("/usr/lib/postgresql/*/bin").scanSync({ onlyFiles: false }),
].sort();
