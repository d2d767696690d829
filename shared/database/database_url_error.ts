/** The error of a database URL that cannot be used. */

/** The message holds no part of the URL, which may hold a password. */
export class DatabaseUrlError extends Error {
  override name = "DatabaseUrlError";
}
