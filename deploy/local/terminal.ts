/** What a start writes to the terminal: its steps, errors, and the ready message. */

/** An error that the user can fix; shown without a stack. */
export class StartError extends Error {
  override readonly name = "StartRefusal";
}

/** Returns the text for the terminal: the message of our own errors, the stack of a bug. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOurWording = error instanceof StartError || error.message.startsWith("Cannot ");
  return isOurWording ? error.message : (error.stack ?? error.message);
}

export interface Progress {
  /** Runs a step; `note` shows what it is doing. */
  step<T>(title: string, work: (note: (text: string) => void) => Promise<T>): Promise<T>;
}

/** Formats the time since `startedAt`: `0.4 s`. */
export function elapsed(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}

/** Shows steps on stderr: on a terminal one line each, overwritten while the step runs; elsewhere one line per event. */
export function openProgress(stderr: NodeJS.WriteStream): Progress {
  const show = (text: string) =>
    stderr.write(stderr.isTTY ? `\r\u001b[2K${text.slice(0, stderr.columns - 1)}` : `${text}\n`);
  return {
    async step(title, work) {
      const startedAt = performance.now();
      show(`${title} …`);
      try {
        const result = await work((text) => show(`  ${text}`));
        show(`${title}: done in ${elapsed(startedAt)}`);
        return result;
      } finally {
        if (stderr.isTTY) stderr.write("\n");
      }
    },
  };
}

/** Returns the ready message: a row for each fact that has a value, then the text of the demo's credentials. */
export function renderBanner(
  took: string,
  facts: Readonly<Record<string, string | null>>,
  credentials: string | null,
): string {
  const rows = Object.entries(facts).filter(([, value]) => value !== null);
  const table = rows.map(([name, value]) => `  ${name.padEnd(13)}${value}`).join("\n");
  const demo = credentials === null ? [] : [credentials.trimEnd().replace(/^(?=.)/gm, "  ")];
  return [`Ready in ${took}`, table, ...demo, "Ctrl-C stops everything", ""].join("\n\n");
}
