/** How far a long command has come, on stderr: one line that replaces itself on a terminal, a line each elsewhere. */

export interface Progress {
  show: (text: string) => void;
  /** Shows what changes all the time: on a terminal only, a few times a second. */
  tick: (text: () => string) => void;
  /** Takes the line away before something else is printed. */
  clear: () => void;
}

/** Erases the line the cursor is in. */
const ERASE = "\r\u001b[2K";
const TICK_MS = 200;

/** Opens the progress line of one command; a quiet one shows nothing. */
export function openProgress(
  terminal: { err: (text: string) => void; isTerminal: boolean },
  options: { isQuiet: boolean },
): Progress {
  let shown = false;
  let lastTick = 0;
  const show = (text: string): void => {
    if (options.isQuiet) return;
    terminal.err(terminal.isTerminal ? ERASE + text : `${text}\n`);
    shown = true;
  };
  return {
    show,
    tick(text) {
      if (!terminal.isTerminal || Date.now() - lastTick < TICK_MS) return;
      lastTick = Date.now();
      show(text());
    },
    clear() {
      if (shown && terminal.isTerminal) terminal.err(ERASE);
      shown = false;
    },
  };
}
