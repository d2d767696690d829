/** What `bun run bench` understands. */
import { parseArgs } from "node:util";

export const USAGE = `Usage: bun run bench [--quick | --write] [NAME…]
       bun run bench --notes

Without a name, all benchmarks but citus run and replace RESULTS.md. That takes some twenty minutes.

  --write   puts the sections of those that are named into the document, in the place of the old ones
  --quick   everything in small, to see whether it works: the figures mean nothing, and nothing is written
  --notes   puts the notes into the document as they are now, and measures nothing
  --help    this text
`;

export interface Choice {
  ok: true;
  /** `null` for all. */
  names: readonly string[] | null;
  isQuick: boolean;
  isWritten: boolean;
  notesOnly: boolean;
}

export interface Refusal {
  ok: false;
  /** `null` when help was asked for. */
  problem: string | null;
}

/** Reads the arguments; `known` are the names there are. */
export function readChoice(args: readonly string[], known: readonly string[]): Choice | Refusal {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        notes: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const { quick, write, notes, help } = values;
    if (help) return { ok: false, problem: null };
    const names = positionals.length > 0 ? positionals : null;
    const unknown = positionals.find((name) => !known.includes(name));
    if (unknown !== undefined)
      return refuse(`Cannot run the benchmark "${unknown}": there is none of that name`);
    if (quick && write) return refuse("Cannot write the figures of a quick run: they mean nothing");
    if (notes && (quick || write || names)) return refuse("Cannot take anything beside --notes");
    const isWritten = notes || write || (names === null && !quick);
    return { ok: true, names, isQuick: quick, isWritten, notesOnly: notes };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(problem: string): Refusal {
  return { ok: false, problem };
}
