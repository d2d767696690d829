/** Comparing is fair only where both send the same. */
import { createHash } from "node:crypto";
import type { TextExportFormat } from "../../shared/vocabulary.ts";

/** Throws unless all of the URLs answer with the same bytes, in CSV but for the quotes: fast-csv quotes fewer fields. */
export async function requireSameBytes(
  urls: readonly string[],
  { key, format }: { key: string; format: TextExportFormat },
): Promise<void> {
  const ignored = format === "csv" ? '"' : "";
  const digests = await Promise.all(urls.map((url) => digestOf(url, { key, ignored })));
  if (new Set(digests).size !== 1)
    throw new Error(`Cannot compare: not the same bytes come from ${urls.join(", ")}`);
}

async function digestOf(url: string, { key, ignored }: { key: string; ignored: string }): Promise<string> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok || !response.body) throw new Error(`Cannot compare: ${url} answers ${response.status}`);
  const hash = createHash("sha256");
  for await (const chunk of response.body) {
    hash.update(Buffer.from(chunk).toString("latin1").replaceAll(ignored, ""), "latin1");
  }
  return hash.digest("hex");
}

/** Throws unless all of the archives hold as many lines in files of this kind. */
export async function requireSameLines(archives: readonly string[], extension: string): Promise<void> {
  const counts = await Promise.all(archives.map((path) => countLines(path, extension)));
  if (new Set(counts).size !== 1)
    throw new Error(`Cannot compare: ${archives.join(", ")} have ${counts} lines`);
}

async function countLines(path: string, extension: string): Promise<number> {
  const script = `unzip -p "$1" "*.$2" | wc -l`;
  const child = Bun.spawn(["sh", "-c", script, "sh", path, extension], { stdout: "pipe", stderr: "inherit" });
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (code !== 0) throw new Error(`Cannot count the lines of ${path}`);
  return Number(text);
}
