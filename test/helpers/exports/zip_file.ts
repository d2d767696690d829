/** Reads ZIP files with a different library than the one that writes them. */
import { crc32 } from "node:zlib";
import unzipper from "unzipper";

/** Reads all entries and returns their names in order. Throws if an entry is damaged. */
export async function testZip(path: string): Promise<string[]> {
  const { files } = await unzipper.Open.file(path);
  for (const file of files) {
    let sum = 0;
    for await (const chunk of file.stream()) sum = crc32(chunk, sum);
    if (sum !== file.crc32) throw new Error(`The entry ${file.path} of ${path} is damaged`);
  }
  return files.map((file) => file.path);
}
