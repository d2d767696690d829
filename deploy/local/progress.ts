/** Progress of a start in the terminal: one line per step, with its duration. */

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 80;

/** Writes a line or part of one. */
type Write = (text: string) => void;

export interface Progress {
  /** Runs a step and prints its line first; `note` shows what it is doing. */
  step<T>(title: string, work: (note: (text: string) => void) => Promise<T>): Promise<T>;
}

/** Formats the time since `startedAt`: `0.4 s`. */
export function elapsed(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}

/** One line per event, for logs and pipes. */
function plainProgress(write: Write): Progress {
  return {
    async step(title, work) {
      const startedAt = performance.now();
      write(`${title} …\n`);
      const result = await work((text) => write(`  ${text}\n`));
      write(`${title}: done in ${elapsed(startedAt)}\n`);
      return result;
    },
  };
}

/** One line per step, overwritten while the step runs. */
function liveProgress(write: Write, columns: number): Progress {
  const draw = (text: string) => write(`\r\u001b[2K${text.slice(0, columns - 1)}`);
  return {
    async step(title, work) {
      const startedAt = performance.now();
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

/** Progress on stderr: live on a terminal, plain lines elsewhere. */
export function openProgress(stream: NodeJS.WriteStream): Progress {
  const write: Write = (text) => stream.write(text);
  return stream.isTTY ? liveProgress(write, stream.columns) : plainProgress(write);
}
