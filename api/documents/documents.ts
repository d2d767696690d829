/** Parses, edits, compares and normalizes documents without blocking other requests. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Log } from "../../shared/process/log.ts";
import type { YamlEdit } from "../../shared/yaml/edit.ts";
import type { DocumentComparison } from "./compare_documents.ts";
import type { DocumentReading, ReadDocument } from "./read_document.ts";
import { TaskThread } from "./task_thread.ts";
import { type DocumentTask, doTask } from "./tasks.ts";

type Given<Name extends DocumentTask["name"]> = Extract<DocumentTask, { name: Name }>["given"];

/**
 * The document service. Caches results, because they depend only on the texts. Processes large documents in a worker thread
 * that callers share fairly. Operations throw SERVICE_UNAVAILABLE if too many tasks wait for the thread.
 */
export type Documents = ReturnType<typeof openDocuments>;

/** The operations of one caller. They throw RATE_LIMITED if too many of the caller's large documents are waiting. */
export type DocumentWork = ReturnType<Documents["forCaller"]>;

interface DocumentsOptions {
  /** The log for internal bugs that a document triggers. The document's author sees a warning. */
  log?: Pick<Log, "error">;
  /** Texts up to this many characters are processed on the main thread, unless they are dense (`MAX_INLINE_MARKS`). */
  inlineLength?: number;
  keptBytes?: number;
  /** Maximum tasks that wait for the thread, over all callers. The lower limit for reads leaves room for writes. */
  maxWaiting?: { reads: number; writes: number };
}

/**
 * Time limit of a task. The largest documents take less than a second on an idle machine. The limit must stay below the API's
 * timeout of 30 s, after which a response could not confirm that nothing was written.
 */
const TIME_LIMIT_MS = 20_000;

const DEFAULTS: Required<Omit<DocumentsOptions, "log">> = {
  // Most real documents are smaller, so they never wait for large ones.
  inlineLength: 4_096,
  keptBytes: 32 * 1024 * 1024,
  maxWaiting: { reads: 32, writes: 64 },
};

/**
 * Maximum marks of a text processed on the main thread. The time depends more on the number of values than on characters.
 * Medians for 4,000 characters on two busy cores: prose 1 ms, real documents with up to 340 marks 5 ms, and 80 one-line
 * pipeline stages or 1,300 empty lists 15 to 30 ms. The worst documents found with 400 marks take 9 to 13 ms, and 6 to 9 ms at
 * best. The thread adds 1 ms, and its tasks wait for their turn.
 */
const MAX_INLINE_MARKS = 400;
/** Characters that begin or precede every value of a YAML text. */
const MARKS = /[[{,:?\n-]/g;
/** Matches an anchor. With aliases of an anchor, a kilobyte can expand to 20,000 values. */
const ANCHOR = /(?:^|[\s,[{:-])&[^\s&]/m;

export function openDocuments(options: DocumentsOptions = {}) {
  const { log, inlineLength, keptBytes, maxWaiting } = { ...DEFAULTS, ...options };
  const cache = new LRUCache<string, string>({ maxSize: keptBytes, sizeCalculation: bytesOf });
  const thread = new TaskThread({ entry: new URL("./main.ts", import.meta.url), timeLimitMs: TIME_LIMIT_MS });

  const perform = async (
    task: DocumentTask,
    { isBulk, ...turn }: { caller: string; isBulk: boolean; maxWaiting: number },
  ): Promise<string> => {
    const key = keyOf(task);
    const kept = cache.get(key);
    if (kept !== undefined) return kept;
    const isInline = !isBulk && isSmall(textOf(task), inlineLength);
    const text = isInline ? doTask(task) : await thread.run({ key, message: task, ...turn });
    cache.set(key, text);
    return text;
  };
  return {
    /**
     * Returns the operations for one caller: a user id, or the network of an anonymous caller. With `isBulk`, small documents
     * are also processed in the thread, so that many of them do not block the process.
     */
    forCaller: (caller: string, { isBulk } = { isBulk: false }) => {
      const read = (task: DocumentTask) => perform(task, { caller, isBulk, maxWaiting: maxWaiting.reads });
      const write = async (task: DocumentTask) =>
        JSON.parse(await perform(task, { caller, isBulk, maxWaiting: maxWaiting.writes }));
      return {
        async read(given: Given<"read">): Promise<DocumentReading> {
          const reading: DocumentReading = await write({ name: "read", given });
          if (reading.ok && log) logFaults(log, reading.document);
          return reading;
        },
        /** Changes fields of the text and qualifies its references to the given names. */
        edit: (given: Given<"edit">): Promise<YamlEdit> => write({ name: "edit", given }),
        async compare(given: Given<"compare">): Promise<DocumentComparison> {
          return JSON.parse(await read({ name: "compare", given }));
        },
        /** Returns the result as JSON text. */
        normalize: (given: Given<"normalize">) => read({ name: "normalize", given }),
        /** Returns HTML as a JSON string. */
        render: (given: Given<"render">) => read({ name: "render", given }),
      };
    },
    /** Terminates the thread. */
    close: () => thread.close(),
  };
}

/** Logs the internal bugs that a document triggered. The hash identifies the stored version (`definitions.hash`). */
function logFaults(log: Pick<Log, "error">, { type, content: { hash }, faults }: ReadDocument): void {
  for (const fault of faults) {
    log.error(
      { event: "document.fault", type, hash, ...fault },
      `a bug stopped the ${fault.part} of a document`,
    );
  }
}

/** Returns an upper bound for the memory of a result and its key, in bytes. A character takes one or two bytes. */
function bytesOf(text: string, key: string): number {
  return 2 * (key.length + text.length);
}

function keyOf({ name, given }: DocumentTask): string {
  return createHash("sha256")
    .update(JSON.stringify([name, given]))
    .digest("base64url");
}

function isSmall(text: string, maxLength: number): boolean {
  if (text.length > maxLength || ANCHOR.test(text)) return false;
  return (text.match(MARKS)?.length ?? 0) <= MAX_INLINE_MARKS;
}

function textOf({ given }: DocumentTask): string {
  if ("yaml" in given) return given.yaml;
  return "text" in given ? given.text : given.from + given.to;
}
