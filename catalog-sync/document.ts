/** Reads the catalog document (models.dev's api.json): the well-formed rows, and why the others are skipped. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

/** Far above any real price; more is a mistake. */
const MAX_USD_PER_MTOK = 1e9;
const MAX_ID_LENGTH = 500;
const CONTROL_CHARACTER = /\p{Cc}/u;
/** Fields whose own fields may be null too. */
const NESTED_FIELDS: ReadonlySet<string> = new Set(["cost", "limit", "context_over_200k", "tiers"]);

const Price = Type.Number({ minimum: 0, maximum: MAX_USD_PER_MTOK });
const Tokens = Type.Integer({ minimum: 0 });
const Name = Type.String({
  pattern: "\\S",
  maxLength: 1000,
  description: "must be a text of at most 1000 characters, and not blank",
});

const OPTIONAL_PRICES = {
  cache_read: Type.Optional(Price),
  cache_write: Type.Optional(Price),
  reasoning: Type.Optional(Price),
  input_audio: Type.Optional(Price),
  output_audio: Type.Optional(Price),
};
/** Prices of requests above a size; the others stay the same. */
const TierPrices = { input: Type.Optional(Price), output: Type.Optional(Price), ...OPTIONAL_PRICES };

/** Unknown keys are allowed: the document grows. */
const SourceModelShape = Type.Object({
  id: Type.Optional(Type.String()),
  name: Name,
  description: Type.Optional(Type.String({ maxLength: 10_000 })),
  family: Type.Optional(Type.String()),
  attachment: Type.Optional(Type.Boolean()),
  reasoning: Type.Optional(Type.Boolean()),
  tool_call: Type.Optional(Type.Boolean()),
  structured_output: Type.Optional(Type.Boolean()),
  open_weights: Type.Optional(Type.Boolean()),
  modalities: Type.Object({
    input: Type.Array(Type.String({ minLength: 1 })),
    output: Type.Array(Type.String({ minLength: 1 })),
  }),
  cost: Type.Optional(
    Type.Object({
      input: Price,
      output: Price,
      ...OPTIONAL_PRICES,
      context_over_200k: Type.Optional(Type.Object(TierPrices)),
      tiers: Type.Optional(
        Type.Array(
          Type.Object({ ...TierPrices, tier: Type.Object({ type: Type.String(), size: Type.Number() }) }),
        ),
      ),
    }),
  ),
  limit: Type.Optional(
    Type.Object({
      context: Type.Optional(Tokens),
      input: Type.Optional(Tokens),
      output: Type.Optional(Tokens),
    }),
  ),
  status: Type.Optional(Type.String()),
  release_date: Type.Optional(Type.String()),
  knowledge: Type.Optional(Type.String()),
  last_updated: Type.Optional(Type.Unknown()),
});

const SourceProviderShape = Type.Object({
  id: Type.Optional(Type.String()),
  name: Name,
  doc: Type.Optional(Type.String()),
  api: Type.Optional(Type.String()),
  models: Type.Record(Type.String(), Type.Unknown()),
});

const Model = TypeCompiler.Compile(SourceModelShape);
const Provider = TypeCompiler.Compile(SourceProviderShape);

/** A model of the document, with its provider's id and its own. */
export type SourceModel = Static<typeof SourceModelShape> & { provider: string; id: string };
export type SourceProvider = Omit<Static<typeof SourceProviderShape>, "models"> & { id: string };

/** A row that cannot be read. The stored row stays as it is. */
export interface SkippedRow {
  provider: string;
  /** `null` when the whole provider is skipped. */
  modelId: string | null;
  reason: string;
}

export interface SourceDocument {
  providers: SourceProvider[];
  models: SourceModel[];
  skipped: SkippedRow[];
}

export type DocumentResult = { ok: true; document: SourceDocument } | { ok: false; reason: string };

/** Reads a parsed document and skips bad rows. `ok` is false if it contains no provider. */
export function readDocument(value: unknown): DocumentResult {
  if (!isObject(value)) return { ok: false, reason: "the document is not a JSON object of providers" };
  const document: SourceDocument = { providers: [], models: [], skipped: [] };
  for (const [id, provider] of Object.entries(value)) readProvider(document, id, provider);
  const [first] = document.skipped;
  if (document.providers.length > 0 || !first) return { ok: true, document };
  return { ok: false, reason: `the document has no provider: ${first.provider}: ${first.reason}` };
}

function readProvider(document: SourceDocument, id: string, value: unknown): void {
  const given = withoutNulls(value);
  const { models, ...fields } = isObject(given) ? given : { models: null };
  const reason = findTextProblem(id, fields) ?? (Provider.Check(given) ? null : explain(Provider, given));
  if (reason !== null || !Provider.Check(given)) {
    document.skipped.push({ provider: id, modelId: null, reason: reason ?? "is malformed" });
    return;
  }
  const { name, doc, api } = given;
  document.providers.push({ id, name, ...(doc ? { doc } : {}), ...(api ? { api } : {}) });
  for (const [modelId, model] of Object.entries(given.models))
    readModel(document, { provider: id, modelId, model });
}

function readModel(
  { models, skipped }: SourceDocument,
  { provider, modelId, model }: { provider: string; modelId: string; model: unknown },
): void {
  const given = withoutNulls(model);
  if (!Model.Check(given)) {
    skipped.push({ provider, modelId, reason: explain(Model, given) });
    return;
  }
  const reason = findTextProblem(modelId, given);
  if (reason === null) models.push({ ...given, provider, id: modelId });
  else skipped.push({ provider, modelId, reason });
}

/** Returns what is wrong with a row's key or with any of its texts: PostgreSQL stores neither NUL nor lone surrogates. */
function findTextProblem(key: string, row: object): string | null {
  if (key.trim() === "") return "id: is empty";
  if (CONTROL_CHARACTER.test(key)) return "id: contains a control character";
  if (key.length > MAX_ID_LENGTH) return `id: must have at most ${MAX_ID_LENGTH} characters`;
  if ("id" in row && row.id !== key) return "id: differs from its key";
  const text = JSON.stringify([key, row]);
  // The first test is cheap, and few rows pass it.
  const isBad = text.includes("\\u") && /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(text);
  return isBad ? "text: contains NUL or malformed Unicode" : null;
}

/** Removes null fields: null means the same as a missing field. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(
    entries.map(([name, field]) => [name, NESTED_FIELDS.has(name) ? withoutNulls(field) : field]),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function explain(
  check: { Errors: ReturnType<typeof TypeCompiler.Compile<TSchema>>["Errors"] },
  value: unknown,
): string {
  const error = check.Errors(value).First();
  if (!error) return "is malformed";
  const { message: text, schema } = error;
  const message = schema.description ?? `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  return [error.path.slice(1).replaceAll("/", "."), message].filter((part) => part !== "").join(": ");
}
