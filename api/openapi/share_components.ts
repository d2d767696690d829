/** Moves repeated parts of operations to `components`. */
import { pascalCase } from "./failures.ts";
import { mapValues, replaceMembers } from "./schemas.ts";
import type { OpenApiDocument, OpenApiResponse } from "./types.ts";

type Paths = OpenApiDocument["paths"];
type Components = Readonly<Record<string, object>>;
/** Returns the replacement of a part: a reference, or the part itself. */
type Replace = (key: string, part: object) => object;
/** Returns the name of a part's component; null if the part stays inline. */
type NameOf = (key: string, part: object) => string | null;

/** Names of responses without exactly one error code, by status. */
const STATUS_NAMES: Readonly<Record<string, string>> = {
  204: "Done",
  304: "NotModified",
  400: "BadRequest",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  422: "Unprocessable",
  429: "TooManyRequests",
};

/** Members to skip. They contain no parts, but some of their values look like parts. */
const UNREAD = ["schema", "example", "value", "requestBody"];

/** Returns the paths with references, and the referenced components. */
export function shareComponents(all: Paths) {
  const parameters = share("parameters", all, shortName);
  const responses = share("responses", parameters.whole, responseName);
  const used = { paths: responses.whole, responses: responses.components };
  const headers = share("headers", used, shortName);
  const examples = share("examples", headers.whole, exampleName);
  return {
    paths: examples.whole.paths,
    components: {
      parameters: parameters.components,
      headers: headers.components,
      responses: examples.whole.responses,
      examples: examples.components,
    },
  };
}

/** Replaces repeated parts with references. If parts share a name, all but the most frequent get a number. */
function share<Whole>(kind: string, whole: Whole, nameOf: NameOf): { whole: Whole; components: Components } {
  const uses = new Map<string, { name: string; part: object; count: number }>();
  replaceIn(whole, kind, (key, part) => {
    const name = nameOf(key, part);
    const text = JSON.stringify(part);
    if (name !== null) uses.set(text, { name, part, count: (uses.get(text)?.count ?? 0) + 1 });
    return part;
  });
  const repeated = [...uses].filter(([, { count }]) => count > 1).sort(([, a], [, b]) => b.count - a.count);
  const components: Record<string, object> = {};
  const references = new Map<string, object>();
  for (const [text, { name, part }] of repeated) {
    const free = freeName(name, components);
    components[free] = part;
    references.set(text, { $ref: `#/components/${kind}/${free}` });
  }
  const replace: Replace = (_, part) => references.get(JSON.stringify(part)) ?? part;
  // The type still applies, because only parts have changed, and any part may be a reference.
  return { whole: replaceIn(whole, kind, replace) as Whole, components };
}

/** Replaces the parts of a kind. They are the items or values of members named after the kind. */
function replaceIn(node: unknown, kind: string, replace: Replace): unknown {
  return replaceMembers(node, (key, value) => {
    if (UNREAD.includes(key)) return value;
    if (key !== kind) return undefined;
    if (Array.isArray(value)) return value.map((part) => replace(part.name, part));
    return mapValues(value as Components, (part, name) => replace(name, part));
  });
}

/** Returns the error code of an example, without the suffix that distinguishes examples of the code. */
function exampleName(key: string): string {
  return pascalCase(key.replace(/ .*/, ""));
}

function freeName(name: string, taken: Components, count = 1): string {
  const free = count === 1 ? name : `${name}${count}`;
  return free in taken ? freeName(name, taken, count + 1) : free;
}

/** Returns the component name of a header, such as `ExportAsOf` for `X-Export-As-Of`. */
function shortName(name: string): string {
  return name.replace(/^X-/, "").replaceAll(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the code of an error response, or else the name of the status. Success responses with content stay inline, because
 * some clients do not resolve references there.
 */
function responseName(status: string, { description = "", content }: OpenApiResponse): string | null {
  if (content && Number(status) < 300) return null;
  const [code = "", ...others] = [...description.matchAll(/^`([A-Z_]+)`/gm)].map(([, found = ""]) => found);
  if (code !== "" && others.length === 0) return pascalCase(code);
  return STATUS_NAMES[status] ?? `Status${status}`;
}
