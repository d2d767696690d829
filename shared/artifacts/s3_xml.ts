/** Parses XML responses of S3 and STS. They contain flat elements, whose attributes can be ignored. */

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** Returns the XML contents of all elements with this name. */
export function elementsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^]*?)</${name}>`, "g"))].map(
    ([, content = ""]) => content,
  );
}

/** Returns the text of the first element with this name; null if not found. */
export function textOf(xml: string, name: string): string | null {
  const [content] = elementsOf(xml, name);
  if (content === undefined) return null;
  return content.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (entity, hex, decimal, word) => {
    if (word) return ENTITIES[word] ?? entity;
    return String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal));
  });
}
