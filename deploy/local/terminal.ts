/** What a start writes to the terminal: its steps, errors, warnings of its processes, and the ready message. */

const REDRAW_MS = 100;

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
  /** Runs a step and prints its line first; `note` shows what it is doing. */
  step<T>(title: string, work: (note: (text: string) => void) => Promise<T>): Promise<T>;
}

/** Formats the time since `startedAt`: `0.4 s`. */
export function elapsed(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}

/** Shows steps on stderr: on a terminal one line each, overwritten while the step runs; elsewhere one line per event. */
export function openProgress(stream: NodeJS.WriteStream): Progress {
  const draw = (text: string) => stream.write(`\r\u001b[2K${text.slice(0, stream.columns - 1)}`);
  return {
    async step(title, work) {
      const startedAt = performance.now();
      if (!stream.isTTY) {
        stream.write(`${title} …\n`);
        const result = await work((text) => stream.write(`  ${text}\n`));
        stream.write(`${title}: done in ${elapsed(startedAt)}\n`);
        return result;
      }
      let note = "";
      const redraw = () => draw(`… ${title}  ${elapsed(startedAt)}  ${note}`);
      const timer = setInterval(redraw, REDRAW_MS);
      try {
        const result = await work((text) => {
          note = text;
        });
        draw(`✓ ${title}  ${elapsed(startedAt)}\n`);
        return result;
      } catch (error) {
        draw(`✗ ${title}\n`);
        throw error;
      } finally {
        clearInterval(timer);
      }
    },
  };
}

/** A short line about a warning or worse, as shared/process/log.ts writes them; null for other lines. */
export function toNotice(name: string, line: string): string | null {
  if (!/^\{"level":"(?:warn|error|fatal)"/.test(line)) return null;
  try {
    const { level, message, requestId } = JSON.parse(line) as Record<string, string>;
    return `${name} ${level}: ${message ?? ""}${requestId ? ` (request ${requestId})` : ""}`;
  } catch {
    return null;
  }
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
