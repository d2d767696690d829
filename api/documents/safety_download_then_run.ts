/** Detects files that are downloaded in one place of a document and run in another, however far apart. */

const FETCH_LINE = /\b(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b([^\n]*)/gi;
/** The output file that a line names. */
const TARGET =
  /(?:\s-o\s*|\s--output[=\s]\s*|\s-O\s*|\s--output-document[=\s]\s*|-OutFile\s+|>\s*)["']?([^\s"';|&)]+)/gi;
/** The file name of the URL, if the line names no output file. */
const URL_NAME = /\b(?:https?|ftp):\/\/[^\s"';|&)]*\/([^\s"'/;|&)?#]+)/gi;
const INTERPRETED = String.raw`(?:^|[\s;&|(\x60"'])(?:(?:ba|z|da|k|fi)?sh|source|python\d?|perl|ruby|node|php|chmod\s+\S+)\s+(?:-\S+\s+)*`;
/** Stays on one line: whitespace across line breaks would make the match quadratic. */
const CALLED = String.raw`(?:^|[;&|(\x60]|\b(?:then|run|execute|start|sudo|exec|nohup)\s)[ \t]*(?:\.\s+|(?=["']?(?:\.{0,2}|~)/))`;
/** Matches a file that is run: by an interpreter, after chmod, or by its path. */
const RUN = new RegExp(String.raw`(?:${INTERPRETED}|${CALLED})["']?([^\s"'\x60;|&()]+)`, "gim");

/** The downloads of one document, whose texts must be read in document order. */
export class Downloads {
  readonly #names = new Set<string>();

  /**
   * Records the downloads of a text. Returns the first command that runs an earlier download, or null. `isForbidden`
   * says whether the text warns against the command at a position.
   */
  read(text: string, isForbidden: (text: string, at: number) => boolean): string | null {
    const steps = [...fetched(text), ...ran(text)].toSorted((a, b) => a.at - b.at);
    for (const { at, name, evidence } of steps) {
      if (evidence === null) this.#names.add(name);
      else if (this.#names.has(name) && !isForbidden(text, at)) return evidence;
    }
    return null;
  }
}

interface Step {
  at: number;
  /** The base name, because the file may be run by another path. */
  name: string;
  /** The command that runs the file; null for a download. */
  evidence: string | null;
}

function fetched(text: string): Step[] {
  const lines = [...text.replace(/\\\r?\n/g, "  ").matchAll(FETCH_LINE)];
  return lines.flatMap(({ index, 1: rest = "" }) =>
    [...rest.matchAll(TARGET), ...rest.matchAll(URL_NAME)].flatMap(({ 1: path = "" }) => {
      const name = baseName(path);
      return name === "" || name === "-" ? [] : [{ at: index, name, evidence: null }];
    }),
  );
}

function ran(text: string): Step[] {
  return [...text.matchAll(RUN)].map(({ index, 0: evidence, 1: path = "" }) => {
    return { at: index, name: baseName(path), evidence };
  });
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/(?<![.,:)])[.,:)]+$/, "");
}
