/** How many bytes a page has with everything that it loads, uncompressed. */

/** Stylesheets, icons, modules, and what modules import. */
const LOADED = /(?:href|src)="(\/dashboard\/assets\/[^"]+)"|from "(\.\/[^"]+)"/g;

/** Fetches the page and each file once. Throws if one of them is missing. */
export async function measurePageBytes(origin: string, path: string): Promise<number> {
  const seen = new Set<string>();
  const queue = [new URL(path, origin).href];
  let bytes = 0;
  for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
    if (seen.has(url)) continue;
    seen.add(url);
    const response = await fetch(url, { headers: { Accept: "text/html", "Accept-Encoding": "identity" } });
    if (!response.ok) throw new Error(`Cannot measure ${path}: ${url} is ${response.status}`);
    const text = await response.text();
    bytes += Buffer.byteLength(text);
    for (const [, file, module] of text.matchAll(LOADED)) {
      const address = file ?? module;
      if (address !== undefined) queue.push(new URL(address, url).href);
    }
  }
  return bytes;
}
