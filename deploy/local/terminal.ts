/** What a start writes to the terminal: its steps, errors, warnings of its processes, and the ready message. */

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 80;

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
      let frame = 0;
      const timer = setInterval(() => {
        frame = (frame + 1) % FRAMES.length;
        draw(`${FRAMES[frame]} ${title}  ${elapsed(startedAt)}  ${note}`);
      }, FRAME_MS);
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

/** Returns the ready message. */
export function renderBanner(facts: BannerFacts): string {
  const { publicUrl, credentials } = facts;
  const rows: readonly (readonly [name: string, value: string | null | undefined])[] = [
    ["Dashboard", `${publicUrl}/dashboard`],
    ["API", `${publicUrl}/api/v1`],
    ["Swagger UI", `${publicUrl}/swagger`],
    ["Database", facts.databaseUrlFile && `embedded; its URL is in ${facts.databaseUrlFile}`],
    ["Credentials", credentials?.path],
    ["Logs", facts.logDirectory],
  ];
  const table = rows.flatMap(([name, value]) => (value ? [`  ${name.padEnd(13)}${value}`] : [])).join("\n");
  const demo = credentials ? [credentials.text.trimEnd().replace(/^(?=.)/gm, "  ")] : [];
  return [`Ready in ${facts.took}`, table, ...demo, "Ctrl-C stops everything", ""].join("\n\n");
}
