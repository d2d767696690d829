/**
 * Reads the catalog document (models.dev's api.json). An optional field that cannot be read is noted as unknown. A row is
 * skipped if its id or a price cannot be read, because an incomplete price would be wrong.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { isStorable } from "../shared/characters.ts";
import { SourceCost } from "../shared/models/prices.ts";
import { isRecord } from "../shared/plain_values.ts";

/**
 * The maximum length of a provider's id and of a model's id. The API accepts 500 characters for both ids with a slash between
 * them, and PostgreSQL rejects keys of more than 2,704 bytes. The longest real pair of ids has 77 characters.
 */
const MAX_ID_LENGTH = 240;
const MAX_MODALITIES = 50;
/** The nesting depth of a cost: `cost`, its list of tiers, and a tier. */
const COST_DEPTH = 3;
const CONTROL_CHARACTER = /\p{Cc}/u;

const Cost = TypeCompiler.Compile(SourceCost);
/** The price of a model. `output` is missing if output is not billed, as with embeddings. */
type Cost = SourceCost & { input: number };

const Name = Type.String({
  pattern: "\\S",
  maxLength: 1000,
  description: "must be a text of at most 1000 characters, and not blank",
});
const Word = Type.String({ minLength: 1, maxLength: 100 });
const Tokens = Type.Integer({ minimum: 0 });

const PROVIDER_FIELDS = {
  name: Name,
  doc: Type.String({ maxLength: 2000 }),
  api: Type.String({ maxLength: 2000 }),
};
const MODALITIES = {
  input: Type.Array(Word, { maxItems: MAX_MODALITIES }),
  output: Type.Array(Word, { maxItems: MAX_MODALITIES }),
};
const LIMITS = { context: Tokens, input: Tokens, output: Tokens };
const MODEL_FIELDS = {
  name: Name,
  description: Type.String({ maxLength: 10_000 }),
  family: Type.String({ minLength: 1, maxLength: 200 }),
  attachment: Type.Boolean(),
  reasoning: Type.Boolean(),
  tool_call: Type.Boolean(),
  structured_output: Type.Boolean(),
  open_weights: Type.Boolean(),
  status: Word,
  release_date: Word,
  knowledge: Word,
};

type Fields = Record<string, TSchema>;
type Values<F extends Fields> = { [K in keyof F]?: Static<F[K]> };

/** A model of the document, with its provider's id and its own id. */
export type SourceModel = Omit<Values<typeof MODEL_FIELDS>, "name"> & {
  provider: string;
  id: string;
  name: string;
  modalities: { input: readonly string[]; output: readonly string[] };
  limit: Values<typeof LIMITS>;
  cost?: Cost;
  last_updated?: unknown;
};
export type SourceProvider = Omit<Values<typeof PROVIDER_FIELDS>, "name"> & { id: string; name: string };

/** A row or field that cannot be read. */
export interface RowProblem {
  provider: string;
  /** The model's id; `null` if the problem is in the provider's own row. */
  modelId: string | null;
  reason: string;
}

export interface SourceDocument {
  providers: SourceProvider[];
  models: SourceModel[];
  /** Rows that cannot be read. Their stored rows stay unchanged. */
  skipped: RowProblem[];
  /** Fields that cannot be read. Their values count as unknown. */
  unknown: RowProblem[];
}

export type DocumentResult = { ok: true; document: SourceDocument } | { ok: false; reason: string };

/** Reads a parsed document. `ok` is false if the document is not an object, or if none of its providers can be read. */
export function readDocument(value: unknown): DocumentResult {
  if (!isRecord(value)) return { ok: false, reason: "the document is not a JSON object of providers" };
  const document: SourceDocument = { providers: [], models: [], skipped: [], unknown: [] };
  for (const [id, provider] of Object.entries(value)) readProvider(document, id, provider);
  const [first] = document.skipped;
  if (document.providers.length > 0 || !first) return { ok: true, document };
  return { ok: false, reason: `the document has no provider: ${first.provider}: ${first.reason}` };
}

function readProvider(document: SourceDocument, id: string, value: unknown): void {
  // In a model's name, the provider's id ends at the first slash.
  const problem = findIdProblem(id, value) ?? (id.includes("/") ? "id: contains a slash" : null);
  const models = isRecord(value) ? value["models"] : undefined;
  if (problem !== null || !isRecord(value) || !isRecord(models)) {
    const reason = problem ?? "models: expected object";
    document.skipped.push({ provider: id, modelId: null, reason });
    return;
  }
  const note = (reason: string) => document.unknown.push({ provider: id, modelId: null, reason });
  document.providers.push({ name: id, ...readFields(PROVIDER_FIELDS, value, note), id });
  for (const [modelId, model] of Object.entries(models)) {
    readModel(document, { provider: id, modelId, model });
  }
}

function readModel(
  document: SourceDocument,
  { provider, modelId, model }: { provider: string; modelId: string; model: unknown },
): void {
  const cost = isRecord(model) ? withoutNulls(model["cost"] ?? undefined) : undefined;
  const reason = findIdProblem(modelId, model) ?? (cost === undefined ? null : explain(Cost, cost, "cost"));
  if (reason !== null || !isRecord(model)) {
    document.skipped.push({ provider, modelId, reason: reason ?? "expected object" });
    return;
  }
  const note = (text: string) => document.unknown.push({ provider, modelId, reason: text });
  const { input = [], output = [] } = readFields(MODALITIES, model["modalities"] ?? {}, note, "modalities");
  document.models.push({
    name: modelId,
    ...readFields(MODEL_FIELDS, model, note),
    ...{ provider, id: modelId, modalities: { input, output } },
    limit: readFields(LIMITS, model["limit"] ?? {}, note, "limit"),
    ...readCost(cost, note),
    ...("last_updated" in model ? { last_updated: model["last_updated"] } : {}),
  });
}

/** Reads a cost. Omits and notes a cost without an input price, because it is useless. */
function readCost(cost: unknown, note: (reason: string) => void): { cost?: Cost } {
  if (!Cost.Check(cost)) return {};
  if (cost.input !== undefined) return { cost: { ...cost, input: cost.input } };
  if (Object.keys(cost).length > 0) note("cost: has no input price");
  return {};
}

/** Returns the readable fields of an object. Null counts as a missing field. */
function readFields<F extends Fields>(
  fields: F,
  row: unknown,
  note: (reason: string) => void,
  path = "",
): Values<F> {
  if (!isRecord(row)) {
    note(`${path}: expected object`);
    return {};
  }
  const given = Object.entries(fields).filter(([name]) => row[name] !== undefined && row[name] !== null);
  const readable = given.filter(([name, schema]) => {
    const problem = explain(checkOf(schema), row[name], path === "" ? name : `${path}.${name}`);
    if (problem !== null) note(problem);
    return problem === null;
  });
  return Object.fromEntries(readable.map(([name]) => [name, row[name]])) as Values<F>;
}

const checks = new Map<TSchema, TypeCheck<TSchema>>();

function checkOf(schema: TSchema): TypeCheck<TSchema> {
  const known = checks.get(schema) ?? TypeCompiler.Compile(schema);
  checks.set(schema, known);
  return known;
}

/** Returns the problem with a row's key; `null` if it is valid. */
function findIdProblem(key: string, row: unknown): string | null {
  if (!isRecord(row)) return "expected object";
  if (key.trim() === "") return "id: is empty";
  if (key.endsWith("/")) return "id: has no name after its last slash";
  if (CONTROL_CHARACTER.test(key)) return "id: contains a control character";
  if (!key.isWellFormed()) return "id: is malformed Unicode";
  if (key.length > MAX_ID_LENGTH) return `id: must have at most ${MAX_ID_LENGTH} characters`;
  return (row["id"] ?? key) === key ? null : "id: differs from its key";
}

/** Returns the problem with a value; `null` if it is valid. PostgreSQL cannot store NUL or lone surrogates. */
function explain(check: TypeCheck<TSchema>, value: unknown, name: string): string | null {
  if (check.Check(value))
    return hasStorableTexts(value) ? null : `${name}: contains NUL or malformed Unicode`;
  const error = check.Errors(value).First();
  const { message: text = "is malformed", schema = null, path = "" } = error ?? {};
  const message = schema?.description ?? `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  return `${name}${path.replaceAll("/", ".")}: ${message}`;
}

function hasStorableTexts(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(hasStorableTexts);
  return typeof value !== "string" || isStorable(value);
}

/** Returns a cost without its null fields. */
function withoutNulls(value: unknown, depth = COST_DEPTH): unknown {
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((entry) => withoutNulls(entry, depth - 1));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([name, field]) => [name, withoutNulls(field, depth - 1)]));
}
