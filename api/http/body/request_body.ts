/** Reads a JSON, YAML or form body before the handler runs. Limits its size and structure. */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { isRecord } from "../../../shared/plain_values.ts";
import { parseQuery, type Query } from "../query.ts";
import type { JsonObject } from "../route.ts";
import { invalidInput } from "../validation_problems.ts";
import { findJsonExcess } from "./json_limits.ts";

/** Maximum under /auth, where callers can be anonymous. It is enough for an email, a password or the name of a key. */
const AUTH_MAX_BYTES = 4096;
const MAX_BYTES = 1_048_576;
/** Only larger bodies count against the memory budgets. Smaller responses fit into the system's socket buffers. */
export const LARGE_BODY_BYTES = 64 * 1024;
/** Maximum chunks of a body. 10,000 take about 15 ms; a million, 6 MB on the wire, block the event loop for seconds. */
export const MAX_CHUNKS = 10_000;

/** Maximum fields of a form. Large forms have dozens. */
const MAX_FIELDS = 1000;

/** The registered media type and its deprecated aliases (RFC 9512, section 2.1). */
const YAML_TYPES = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];
const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";

export interface BodyLimits {
  maxBytes: number;
  /** Called once if a body exceeds LARGE_BODY_BYTES; `bytes` is its announced or maximum size. Throws if the budget is used up. */
  claim: (bytes: number) => void;
}

/** Returns the default maximum body size of a path. An operation can declare another maximum. */
export function maxBodyBytes(path: string): number {
  return path.startsWith("/api/v1/auth/") ? AUTH_MAX_BYTES : MAX_BYTES;
}

/**
 * Reads a body. A YAML body becomes the field `yaml`, and the query parameters become the other fields. Throws
 * PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
export async function readBody(
  request: Request,
  { limits, yamlQuery, given }: { limits: BodyLimits; yamlQuery: Query | undefined; given: URLSearchParams },
): Promise<JsonObject> {
  if (!yamlQuery) return readJsonObject(request, limits);
  if (isYaml(request)) {
    const yaml = await readYamlText(request, limits);
    return { ...fieldsOf(yamlQuery, given), ...(yaml === "" ? {} : { yaml }) };
  }
  const body = await readJsonObject(request, limits, { takesYaml: true });
  const misplaced = Object.keys(yamlQuery).filter((name) => given.has(name));
  if (misplaced.length > 0) {
    const message = "is a query parameter of YAML bodies only. Put it into the JSON body";
    throw invalidInput(misplaced.map((path) => ({ path, message })));
  }
  return body;
}

/** Returns the parsed values of the parameters that were sent. */
function fieldsOf(query: Query, value: URLSearchParams): JsonObject {
  const values = Object.entries(parseQuery(query, value));
  return Object.fromEntries(values.filter(([name]) => value.has(name)));
}

/**
 * Reads a form, with LF in place of the CR LF that browsers send. A missing body is an empty form. Throws
 * PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
export async function readForm(request: Request, limits: BodyLimits): Promise<URLSearchParams> {
  const bytes = await readBytes(request, limits);
  if (bytes.byteLength > 0) rejectOtherTypes(request.headers, FORM_TYPE);
  const text = new TextDecoder().decode(bytes);
  // Fields are counted before parsing, because a megabyte of separators is a million fields.
  let fields = 1;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) fields += 1;
  if (fields > MAX_FIELDS) throw invalidInput([{ path: "", message: `has more than ${MAX_FIELDS} fields` }]);
  return new URLSearchParams(text.replaceAll(/%0D%0A/gi, "%0A"));
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { maxSize: maxBytes } });
}

function invalidBody(message: string): ApiError {
  return invalidInput([{ path: "", message }]);
}

const CHOPPED = `the body comes in more than ${MAX_CHUNKS} chunks: send it in larger ones, or with Content-Length`;

/** Reads the body up to the limits, regardless of `Content-Length`. */
async function readBytes(request: Request, { maxBytes, claim }: BodyLimits): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? maxBytes);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isClaimed = false;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      if (size > LARGE_BODY_BYTES && !isClaimed) {
        claim(announced);
        isClaimed = true;
      }
      if (chunks.push(chunk) > MAX_CHUNKS) throw invalidBody(CHOPPED);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The client disconnected or was cut off for being slow. This is not our failure, and no client reads the response.
    throw invalidBody("the body is incomplete");
  }
  return Buffer.concat(chunks, size);
}

function mediaTypeOf(headers: Headers): string | undefined {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
}

/** `others` are further content types of the route. Only the error message uses them. */
function rejectOtherTypes(headers: Headers, accepted: string, others: readonly string[] = []): void {
  if (mediaTypeOf(headers) !== accepted) {
    const message = TEXTS.UNSUPPORTED_MEDIA_TYPE.type([accepted, ...others]);
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", { message });
  }
  rejectCompressed(headers);
}

function rejectCompressed(headers: Headers): void {
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity") {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", { message: TEXTS.UNSUPPORTED_MEDIA_TYPE.compressed });
  }
}

function isYaml({ headers }: Request): boolean {
  return YAML_TYPES.includes(mediaTypeOf(headers) ?? "");
}

/** Reads the text of a YAML body. Throws PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR. */
async function readYamlText(request: Request, limits: BodyLimits): Promise<string> {
  const bytes = await readBytes(request, limits);
  rejectCompressed(request.headers);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidBody("the body is not text in UTF-8");
  }
}

/**
 * Reads a body that is a JSON object. A missing body counts as `{}`, because a route that needs a body requires a field. Throws
 * PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
async function readJsonObject(
  request: Request,
  limits: BodyLimits,
  { takesYaml = false } = {},
): Promise<JsonObject> {
  const bytes = await readBytes(request, limits);
  if (bytes.byteLength === 0) return {};
  rejectOtherTypes(request.headers, JSON_TYPE, takesYaml ? YAML_TYPES.slice(0, 1) : []);
  const excess = findJsonExcess(bytes);
  if (excess !== null) throw invalidBody(excess);
  const body = parseJson(bytes);
  if (!isRecord(body)) throw invalidBody("the body must be a JSON object");
  return body;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalidBody("the body is not JSON in UTF-8");
  }
}
