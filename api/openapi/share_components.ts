/** Moves parts that operations repeat to `components`. */
import { pascalCase } from "./failures.ts";
import { mapValues, replaceMembers } from "./schemas.ts";
import type { OpenApiDocument, OpenApiResponse } from "./types.ts";

type Paths = OpenApiDocument["paths"];
type Components = Readonly<Record<string, object>>;
/** Returns what stands in place of a part: a reference, or the part itself. */
type Replace = (key: string, part: object) => object;
/** Returns the name of a part's component; null if the part stays where it is. */
type NameOf = (key: string, part: object) => string | null;

/** Names of responses with no code or several, by status. */
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

/** Members without parts; some have values that look like parts. */
const UNREAD = ["schema", "example", "value", "requestBody"];

/** Returns the paths with references, and the components that these refer to. */
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

/** Replaces parts that occur repeatedly. If several have the same name, the most frequent gets it, the others a number. */
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
  // Only parts have changed, and any part may be a reference.
  return { whole: replaceIn(whole, kind, replace) as Whole, components };
}

/** Replaces the parts of a kind: the items of a list of this name or the values of an object. */
function replaceIn(node: unknown, kind: string, replace: Replace): unknown {
  return replaceMembers(node, (key, value) => {
    if (UNREAD.includes(key)) return value;
    if (key !== kind) return undefined;
    if (Array.isArray(value)) return value.map((part) => replace(part.name, part));
    return mapValues(value as Components, (part, name) => replace(name, part));
  });
}

/** The code of an error, without the words that tell examples of one code apart. */
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
 * The code of an error response, otherwise the name of the status. A success with content stays where it is, because some
 * clients follow no references there.
 */
function responseName(status: string, { description = "", content }: OpenApiResponse): string | null {
  if (content && Number(status) < 300) return null;
  const [code = "", ...others] = [...description.matchAll(/^`([A-Z_]+)`/gm)].map(([, found = ""]) => found);
  if (code !== "" && others.length === 0) return pascalCase(code);
  return STATUS_NAMES[status] ?? `Status${status}`;
}
