/**
 * The work of reading that the peers do: the same statements and the same JSON, whatever their framework and driver are.
 * They ask the database for every request, with prepared statements.
 */
import { createHash } from "node:crypto";
import {
  ALIASES,
  CALLER,
  DEFINITION,
  LIST,
  LIST_COUNT,
  MODEL_COUNT,
  MODEL_COUNT_NAMED,
  MODELS,
  MODELS_NAMED,
  PROFILE,
  RESOLVE,
  SEARCH,
  SEARCH_COUNT,
  type Statement,
} from "./read_statements.ts";

// biome-ignore lint/suspicious/noExplicitAny: rows are as the statement has them, as drivers say too
type Row = Record<string, any>;

/** Runs a statement with its driver. */
export type RunStatement = (statement: Statement, values: readonly unknown[]) => Promise<readonly Row[]>;

/** What to answer; a server adds its headers. */
export interface Answer {
  status: 200 | 401 | 404;
  body: object;
}

const PAGE_SIZE = 50;
const NOT_FOUND: Answer = { status: 404, body: { error: { code: "NOT_FOUND" } } };

/** A user, for callers whose key is known. */
export async function readProfile(
  run: RunStatement,
  { id, authorization = "" }: { id: string; authorization?: string | undefined },
): Promise<Answer> {
  const [, secret = ""] = /^Bearer (ulr_[\w-]+)$/.exec(authorization) ?? [];
  const hash = createHash("sha256").update(secret).digest();
  const [caller] = await run(CALLER, [hash]);
  if (!caller) return { status: 401, body: { error: { code: "UNAUTHORIZED" } } };
  const [row] = await run(PROFILE, [id]);
  return row ? { status: 200, body: { data: row } } : NOT_FOUND;
}

/** A page of the catalogue, with the aliases of its models. */
export async function readModels(
  run: RunStatement,
  page: { limit?: number | undefined; offset?: number | undefined; search?: string | undefined },
): Promise<Answer> {
  const { limit = PAGE_SIZE, offset = 0, search } = page;
  const pattern = search === undefined ? [] : [`%${search}%`];
  const [models, [counted]] = await Promise.all([
    run(search === undefined ? MODELS : MODELS_NAMED, [limit, offset, ...pattern]),
    run(search === undefined ? MODEL_COUNT : MODEL_COUNT_NAMED, pattern),
  ]);
  const keys = [models.map(({ provider }) => provider), models.map(({ modelId }) => modelId)];
  const aliases = await run(ALIASES, keys);
  const total: number = counted?.["total"];
  const hasMore = offset + models.length < total;
  return { status: 200, body: { data: { models, aliases, total, limit, offset, hasMore } } };
}

/** The model that an alias stands for. */
export async function resolveAlias(run: RunStatement, alias: string): Promise<Answer> {
  const [model] = await run(RESOLVE, [alias]);
  if (!model) return NOT_FOUND;
  const target = `${model["provider"]}/${model["modelId"]}`;
  return { status: 200, body: { data: { alias, target, model } } };
}

/** The latest published version of a definition, whole. */
export async function readDefinition(
  run: RunStatement,
  { type, name }: { type: string; name: string },
): Promise<Answer> {
  const [row] = await run(DEFINITION, [type, name]);
  return row ? { status: 200, body: { data: row } } : NOT_FOUND;
}

/** The first page of the registry, or of what a search finds in it. */
export async function listDefinitions(run: RunStatement, search: string | undefined): Promise<Answer> {
  const words = search === undefined ? [] : [search];
  const [definitions, [counted]] = await Promise.all([
    run(search === undefined ? LIST : SEARCH, [PAGE_SIZE, ...words]),
    run(search === undefined ? LIST_COUNT : SEARCH_COUNT, words),
  ]);
  const total: number = counted?.["total"];
  const page = { limit: PAGE_SIZE, offset: 0, hasMore: definitions.length < total };
  return { status: 200, body: { data: { definitions, total, ...page } } };
}
