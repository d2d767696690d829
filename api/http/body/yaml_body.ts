/** YAML bodies: the body is the definition's document, and the query has the other fields. */

import { parseQuery, type Query } from "../query.ts";
import type { JsonObject } from "../route.ts";
import { invalidInput } from "../validation_problems.ts";
import { isYaml, readJsonObject, readYamlText } from "./request_body.ts";

/**
 * Reads a body. A YAML body becomes the field `yaml`, and the query parameters become the other fields. Throws
 * PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
export async function readBody(
  request: Request,
  { maxBytes, yamlQuery, given }: { maxBytes: number; yamlQuery: Query | null; given: URLSearchParams },
): Promise<JsonObject> {
  if (yamlQuery === null) return readJsonObject(request, maxBytes);
  if (isYaml(request)) {
    const yaml = await readYamlText(request, maxBytes);
    return { ...fieldsOf(yamlQuery, given), ...(yaml === "" ? {} : { yaml }) };
  }
  const misplaced = Object.keys(yamlQuery).filter((name) => given.has(name));
  if (misplaced.length > 0) {
    const message = "is a query parameter of YAML bodies only. Put it into the JSON body";
    throw invalidInput(misplaced.map((path) => ({ path, message })));
  }
  return readJsonObject(request, maxBytes, { takesYaml: true });
}

/** Returns the given parameters; omitted ones are left out, as in JSON. */
function fieldsOf(query: Query, value: URLSearchParams): JsonObject {
  const values = Object.entries(parseQuery(query, value));
  return Object.fromEntries(values.filter(([name]) => value.has(name)));
}
