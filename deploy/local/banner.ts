/** The message that `bun run start` prints when everything is ready. */

export interface BannerFacts {
  /** Such as `2.4 s`. */
  took: string;
  publicUrl: string;
  /** `null` when the log lines go to stdout. */
  logDirectory: string | null;
  /** Where the URL of the embedded database is kept; `null` when DATABASE_URL was given. */
  databaseUrlFile: string | null;
  /** The text of the credentials file; null without one. */
  credentials: { path: string; text: string } | null;
}

function indent(text: string): string {
  return text.trimEnd().replace(/^(?=.)/gm, "  ");
}

/** Writes the ready message. */
export function renderBanner(facts: BannerFacts): string {
  const rows: [string, string][] = [
    ["Dashboard", `${facts.publicUrl}/dashboard`],
    ["API", `${facts.publicUrl}/api/v1`],
    ["Swagger UI", `${facts.publicUrl}/swagger`],
  ];
  if (facts.databaseUrlFile) rows.push(["Database", `embedded; its URL is in ${facts.databaseUrlFile}`]);
  if (facts.credentials) rows.push(["Credentials", facts.credentials.path]);
  if (facts.logDirectory) rows.push(["Logs", facts.logDirectory]);
  const table = rows.map(([name, value]) => `  ${name.padEnd(13)}${value}`).join("\n");
  const demo = facts.credentials && indent(facts.credentials.text);
  return [`Ready in ${facts.took}`, table, demo, "Ctrl-C stops everything", ""]
    .filter((part) => part !== null)
    .join("\n\n");
}
