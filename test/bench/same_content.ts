/** Comparing is fair only where both send the same. */
import { createHash } from "node:crypto";

/** Throws unless all of the URLs answer with the same bytes. */
export async function requireSameBytes(urls: readonly string[], { key }: { key: string }): Promise<void> {
  const digests = await Promise.all(urls.map((url) => digestOf(url, key)));
  if (new Set(digests).size !== 1)
    throw new Error(`Cannot compare: not the same bytes come from ${urls.join(", ")}`);
}

async function digestOf(url: string, key: string): Promise<string> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok || !response.body) throw new Error(`Cannot compare: ${url} answers ${response.status}`);
  const hash = createHash("sha256");
  for await (const chunk of response.body) hash.update(chunk);
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
