/** Warns about unencrypted connections to other machines. */
import type { Sql } from "./pool.ts";

const LOOPBACK = /^127\.|^::1$|^::ffff:127\./;

/** Fields of a connection that our patch of the driver exposes. */
interface ConnectionState {
  isEncrypted: boolean;
  /** Of the server or pooler; undefined for a Unix socket. */
  address: string | undefined;
}

/** Calls `warn` if `sql` reaches another machine without TLS. */
export async function warnIfClearText(sql: Sql, warn: (message: string) => void): Promise<void> {
  const { state } = await sql`select 1`;
  const { isEncrypted, address } = state as unknown as ConnectionState;
  if (isEncrypted || address === undefined || LOOPBACK.test(address)) return;
  warn(
    `The connection to PostgreSQL at ${address} is not encrypted. Add sslmode=verify-full to the database URL.`,
  );
}
