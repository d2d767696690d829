/** A typed client for our own API. The operation determines the fields that a page can send and the type of the response. */
import type { Static, TProperties, TSchema } from "@sinclair/typebox";
import { ApiError, type ErrorCode } from "../../shared/errors.ts";
import type { DescribedJson, Operation, Responses } from "../http/operation.ts";
import type { Query } from "../http/query.ts";
import type { ApiCall, CallApi } from "../http/request_context.ts";
import { type Access, API_PREFIX } from "../http/route.ts";

type QueryValue = string | number | boolean | null | undefined | readonly string[];

/** The input of an API call. Its values may be unchecked user input, because the API validates them. */
type CallInput<Params, Declared extends Query, Body> = Pick<ApiCall, "org" | "idempotencyKey"> & {
  /** Requests only the headers. */
  method?: "HEAD";
  params?: Readonly<Record<keyof Params, string>>;
  query?: URLSearchParams | { readonly [Name in keyof Declared]?: QueryValue };
  body?: { readonly [Name in keyof Body]?: unknown };
};

/** The arguments of a call. The input is optional if the path has no parameters. */
type Given<P extends TProperties, Q extends Query, B extends TSchema> = keyof P extends never
  ? [input?: CallInput<P, Q, Static<B>>]
  : [input: CallInput<P, Q, Static<B>> & { params: unknown }];

type Success = 200 | 201 | 202 | 204;
type JsonOf<Declared> = Declared extends TSchema
  ? Static<Declared>
  : Declared extends DescribedJson
    ? Static<Declared["json"]>
    : null;

type Called<P extends TProperties, Q extends Query, B extends TSchema, R extends Responses> = Operation<
  Access,
  P,
  Q,
  B,
  R
>;

export interface ApiClient {
  /**
   * Returns the response's JSON, or null for an empty body. Throws the API's ApiError. If the page does not catch the error,
   * the visitor gets an error page with the same status.
   */
  call<P extends TProperties, Q extends Query, B extends TSchema, R extends Responses>(
    operation: Called<P, Q, B, R>,
    ...given: Given<P, Q, B>
  ): Promise<JsonOf<R[keyof R & Success]>>;
  /** Like `call`, but returns the response, for callers that need its status or headers. */
  send<P extends TProperties, Q extends Query, B extends TSchema, R extends Responses>(
    operation: Called<P, Q, B, R>,
    ...given: Given<P, Q, B>
  ): Promise<Response>;
}

/** The JSON type of an operation's successful response. */
export type ResponseOf<O> =
  O extends Called<infer _P, infer _Q, infer _B, infer R> ? JsonOf<R[keyof R & Success]> : never;

export function createApiClient(callApi: CallApi): ApiClient {
  const send = (operation: AnyDeclaration, input: AnyInput = {}) => {
    const { params, query, ...options } = input;
    return callApi(apiPath(operation, params) + searchOf(query), { method: operation.method, ...options });
  };
  const client = {
    send,
    call: async (operation: AnyDeclaration, input?: AnyInput) => {
      const text = await (await send(operation, input)).text();
      return text === "" ? null : JSON.parse(text);
    },
  };
  return client as ApiClient;
}

type AnyDeclaration = Pick<Operation, "method" | "path">;
type AnyInput = CallInput<Record<string, string>, Query, Record<string, unknown>>;

/** Returns an operation's path relative to /api/v1, with the parameters filled in. */
export function apiPath({ path }: AnyDeclaration, params: Readonly<Record<string, string>> = {}): string {
  const value = (name: string) => params[name] ?? "";
  return path
    .slice(API_PREFIX.length)
    .replace(/\{\+(\w+)\}/, (_, name: string) => value(name).split("/").map(encodeURIComponent).join("/"))
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
}

function searchOf(query: AnyInput["query"] = {}): string {
  const pairs =
    query instanceof URLSearchParams
      ? [...query]
      : Object.entries(query).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, String(one)]),
        );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

/** Waits for a call. Returns null if it fails with one of these codes, so that a page can omit the missing data. */
export async function nullIf<T>(codes: readonly ErrorCode[], called: Promise<T>): Promise<T | null> {
  try {
    return await called;
  } catch (error) {
    if (error instanceof ApiError && codes.includes(error.code)) return null;
    throw error;
  }
}
