/** How far a long command has come, on stderr: one line that replaces itself on a terminal, a line each elsewhere. */

export interface Progress {
  show: (text: string) => void;
  /** Takes the line away before something else is printed. */
  clear: () => void;
}

/** Erases the line the cursor is in. */
const ERASE = "\r\u001b[2K";

/** Opens the progress line of one command; a quiet one shows nothing. */
export function openProgress(
  terminal: { err: (text: string) => void; isTerminal: boolean },
  options: { isQuiet: boolean },
): Progress {
  let shown = false;
  return {
    show(text) {
      if (options.isQuiet) return;
      terminal.err(terminal.isTerminal ? ERASE + text : `${text}\n`);
      shown = true;
    },
    clear() {
      if (shown && terminal.isTerminal) terminal.err(ERASE);
      shown = false;
    },
  };
}
