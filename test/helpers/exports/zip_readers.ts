/** Reads ZIP files as streams, with Java's ZipInputStream and npm's unzipper. */
import { createReadStream } from "node:fs";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import unzipper from "unzipper";
import { runCommand } from "../process/command.ts";

export interface ReadEntry {
  name: string;
  bytes: number;
  crc32: number;
}

const JAVA_PROGRAM = fileURLToPath(new URL("ReadZips.java", import.meta.url));

/** Reads the files with Java and returns the entries of each file. */
export async function readWithJava(paths: readonly string[]): Promise<ReadonlyMap<string, ReadEntry[]>> {
  const { stdout, stderr, exitCode } = await runCommand(["java", JAVA_PROGRAM, ...paths]);
  if (exitCode !== 0) throw new Error(`Java cannot read the files: ${stderr}`);
  const entries = new Map<string, ReadEntry[]>(paths.map((path) => [path, []]));
  for (const line of stdout.split("\n").filter(Boolean)) {
    const [path = "", name = "", bytes, crc] = line.split("\t");
    entries.get(path)?.push({ name, bytes: Number(bytes), crc32: Number(crc) });
  }
  return entries;
}

/** Reads a file with unzipper and returns its entries. */
export async function readWithUnzipper(path: string): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = [];
  const parser = createReadStream(path).pipe(unzipper.Parse({ forceStream: true }));
  for await (const entry of parser) {
    const read = { name: entry.path, bytes: 0, crc32: 0 };
    for await (const chunk of entry) {
      read.bytes += chunk.length;
      read.crc32 = crc32(chunk, read.crc32);
    }
    entries.push(read);
  }
  return entries;
}
