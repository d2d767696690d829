/**
 * An operation is one endpoint: what it accepts, what it returns, how it can fail, and the function that does it. The
 * route, the access check and the OpenAPI document are derived from these values; an endpoint is defined nowhere else.
 */
import type { Static, TObject, TProperties, TSchema, TUnsafe } from "@sinclair/typebox";
import type { ErrorCode } from "../../shared/errors.ts";
import type { JsonSchema } from "../../shared/schemas.ts";
import type { Caller } from "./caller.ts";
import type { Query, QueryValues } from "./query.ts";
import type { Access, JsonObject, RouteOptions } from "./route.ts";

/**
 * The parts of the app, which operations get as their second argument. deps.ts adds the members, because this folder is
 * independent of the API's subjects.
 */
// biome-ignore lint/suspicious/noEmptyInterface: see above.
export interface OperationDeps {}

/** A code, with example `details` if they differ from the default example. */
type Failure = ErrorCode | readonly [ErrorCode, Readonly<Record<string, unknown>>];

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Files: by media type, an example or the schema; null for bytes. The reply's headers have the `Content-Type`. */
export interface Files {
  readonly description: string;
  readonly files: Readonly<Record<string, string | null | JsonSchema>>;
}

/** JSON with more to say than its schema does. */
export interface DescribedJson {
  readonly json: TSchema;
  /** The description of the response if it is not the schema's. */
  readonly description?: string;
  /** The request may ask for a file instead, which the document describes as an operation of its own. */
  readonly orFile?: true;
}

/** The content of a status; null for no body. The document has a schema's description and example. */
export type Content = TSchema | DescribedJson | Files | null;
export type Responses = Readonly<Record<number, Content>>;

/** The text of a JSON value of this type, or its bytes, as PostgreSQL or a cache has it: sent as it is. */
export type JsonText<Value> = (string | Uint8Array<ArrayBuffer>) & { readonly json: Value };

/** Declares that a text is JSON as the operation's schema says. The tests check every response. */
export function jsonText(text: string | Uint8Array<ArrayBuffer>): JsonText<never> {
  return text as JsonText<never>;
}

/** Merges several non-empty JSON objects, given as text. */
export function joinJson(objects: readonly string[]): string {
  return `{${objects.map((object) => object.slice(1, -1)).join()}}`;
}

export type FileBody = ReadableStream<Uint8Array> | Blob | Uint8Array<ArrayBuffer> | string;
type Json<Schema extends TSchema> = Static<Schema> | JsonText<Static<Schema>>;
type BodyOf<Declared> = Declared extends TSchema
  ? Json<Declared>
  : Declared extends { readonly json: infer Schema extends TSchema }
    ? Json<Schema> | (Declared extends { readonly orFile: true } ? FileBody : never)
    : Declared extends Files
      ? FileBody | null // for HEAD
      : null;

export interface ReplyOptions {
  headers?: Readonly<Record<string, string>>;
  /** The tag of a conditional operation's content; a hash of the text if omitted. */
  etag?: string;
}

/** One of the declared statuses with its body. A function is called unless the client has the content already. */
type Reply<R extends Responses> = {
  [Status in keyof R & number]: ReplyOptions & {
    readonly status: Status;
    readonly body: BodyOf<R[Status]> | (() => BodyOf<R[Status]>);
  };
}[keyof R & number];

export function reply<const Status extends number, Body>(
  status: Status,
  body: Body,
  options: ReplyOptions = {},
) {
  return { status, body, ...options };
}

interface Declaration<
  A extends Access = Access,
  P extends TProperties = TProperties,
  Q extends Query = Query,
  B extends TSchema = TSchema,
  R extends Responses = Responses,
> extends RouteOptions {
  /** The OpenAPI `operationId`, which generated clients use as the name. */
  id: string;
  method: Method;
  /** A template as in RFC 6570: `/api/v1/models/{provider}/{+modelId}`; `{+name}` is the rest with its slashes. */
  path: string;
  /** Checked by pipeline/serve_route.ts, before the handler. */
  access: A;
  tag: string;
  /** A verb and its object: "Delete a draft". */
  summary: string;
  description: string;
  /** The parameters of the path, each with a description and an example. */
  params?: P;
  query?: Q;
  /** Like `query`, but the handler parses it: once it knows that the caller may know whether the query is valid. */
  uncheckedQuery?: Query;
  /** A JSON object. GET has none. */
  body?: B;
  /** Like `body`, but the handler checks it, because it accepts some that are invalid in part. */
  uncheckedBody?: TSchema;
  /** Maximum size of the body, if the default for its path is too small. */
  maxBodyBytes?: number;
  /** Depends on X-Org-Slug. */
  usesOrg?: true;
  /** Further request headers and their descriptions. */
  requestHeaders?: Readonly<Record<string, string>>;
  response: R;
  /** Further headers of successful responses. */
  responseHeaders?: Readonly<Record<string, { description: string; schema: TSchema }>>;
  /** Answers GET with an ETag, and with 304 if `If-None-Match` has it. The body is a text, because the ETag names its encoding. */
  conditional?: true;
  /** The errors of this endpoint, without those that follow from the rest of the declaration. */
  fails?: readonly Failure[];
  /** A POST that only reads: its query is too long for a URL. */
  reads?: true;
  /** The document's replacements for this operation: one for each form of its path, with the differences. */
  documentedAs?: readonly DocumentedForm[];
}

export type DocumentedForm = Pick<Declaration, "id" | "path" | "summary"> &
  Partial<
    Pick<Declaration, "description" | "params" | "uncheckedQuery" | "response" | "responseHeaders" | "fails">
  >;

interface Input<A extends Access, P extends TProperties, Q extends Query, B extends TSchema> {
  params: Static<TObject<P>>;
  query: QueryValues<Q>;
  body: Static<B>;
  caller: A extends "public" ? Caller | null : Caller;
  /** Without a body. Functions that need the context find it by the request. */
  request: Request;
}

export interface Operation<
  A extends Access = Access,
  P extends TProperties = TProperties,
  Q extends Query = Query,
  B extends TSchema = TSchema,
  R extends Responses = Responses,
> extends Declaration<A, P, Q, B, R> {
  handle(input: Input<A, P, Q, B>, deps: OperationDeps): Promise<Reply<R>>;
}

/** An operation of any kind, for lists. */
// biome-ignore lint/suspicious/noExplicitAny: handlers of different inputs have no other common type.
export type AnyOperation = Operation<any, any, any, any, any>;

/** Declares an operation. The types of `handle`'s arguments and results follow from the declaration. */
export function operation<
  const A extends Access,
  const R extends Responses,
  P extends TProperties = Record<never, never>,
  Q extends Query = Record<never, never>,
  B extends TSchema = TUnsafe<JsonObject>,
>(
  declaration: Declaration<A, P, Q, B, R>,
  handle: (input: Input<A, P, Q, B>, deps: OperationDeps) => Promise<Reply<R>>,
): Operation<A, P, Q, B, R> {
  return { ...declaration, handle };
}
