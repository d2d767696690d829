/** Reads the forms that pages send: fields by name, each with all its values. */

import type { JsonObject } from "../route.ts";
import { invalidInput } from "../validation_problems.ts";
import { readFormText } from "./request_body.ts";

/** Fields of one form. Large ones have some dozens. */
const MAX_FIELDS = 1000;

/**
 * Reads a form into lists of values by name, with the line breaks that authors mean: browsers send CR LF. No body is an
 * empty form. Throws PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
export async function readForm(request: Request, maxBytes: number): Promise<JsonObject> {
  const text = await readFormText(request, maxBytes);
  // Counted before it is parsed: a megabyte of separators is a million fields.
  let fields = 1;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) fields += 1;
  if (fields > MAX_FIELDS) throw invalidInput([{ path: "", message: `has more than ${MAX_FIELDS} fields` }]);
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const list = values.get(name) ?? [];
    list.push(value.replaceAll("\r\n", "\n"));
    values.set(name, list);
  }
  return Object.fromEntries(values);
}
