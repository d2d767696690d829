/** Debian's PostgreSQL, for tests that need `pg_dump`: it must not be older than the server. */

/** The folder of its programs; empty if it is not installed. */
export const [DEBIAN_POSTGRES_BIN = ""] = [
  ...new Bun.Glob("/usr/lib/postgresql/*/bin").scanSync({ onlyFiles: false }),
].sort();
