/** RESULTS.md and the notes beside it. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { composeDocument, type Facts, findOtherFact, readDocument } from "./results_document.ts";

const FOLDER = "test/bench";
export const RESULTS_PATH = `${FOLDER}/RESULTS.md`;

/** Throws when the document has sections that would stay in it and were measured on another machine. */
export async function requireSameMachine(root: string, facts: Facts): Promise<void> {
  const old = readDocument(await readResults(root));
  const name = findOtherFact(old, facts);
  if (name === null) return;
  throw new Error(
    `Cannot put a section into ${RESULTS_PATH}: ${name} is ${facts[name]} here and ${old.facts[name]} there; run all of them`,
  );
}

/** Writes the sections that were measured; others of the document stay, unless all were measured. */
export async function writeResults(
  root: string,
  given: { facts: Facts; measured: ReadonlyMap<string, string>; order: readonly string[] },
): Promise<void> {
  const { facts, measured, order } = given;
  const { sections: old } = readDocument(await readResults(root));
  const sections = new Map<string, string>();
  for (const name of order) {
    const text = measured.get(name) ?? old.get(name);
    if (text !== undefined) sections.set(name, text);
  }
  await writeFile(join(root, RESULTS_PATH), composeDocument({ facts, sections }, await readNotes(root)));
}

/** Puts the notes into the document as they are now. */
export async function writeNotes(root: string): Promise<void> {
  const results = readDocument(await readResults(root));
  await writeFile(join(root, RESULTS_PATH), composeDocument(results, await readNotes(root)));
}

async function readResults(root: string): Promise<string> {
  return readFile(join(root, RESULTS_PATH), "utf8").catch(() => "");
}

/** By the name of the section. */
async function readNotes(root: string): Promise<Record<string, string>> {
  const folder = join(root, FOLDER, "notes");
  const files = await readdir(folder).catch(() => []);
  const notes = files.map(async (file) => [
    basename(file, ".md"),
    await readFile(join(folder, file), "utf8"),
  ]);
  return Object.fromEntries(await Promise.all(notes));
}
