/**
 * An operation declares one endpoint: its input, responses, errors and handler. The route, the access check and the OpenAPI
 * document are derived from this declaration. An endpoint is defined nowhere else.
 */
import type { Static, TObject, TProperties, TSchema, TUnsafe } from "@sinclair/typebox";
import type { ErrorCode } from "../../shared/errors.ts";
import type { JsonSchema } from "../../shared/schemas.ts";
import type { Caller } from "./caller.ts";
import type { Query, QueryValues } from "./query.ts";
import type { Access, JsonObject, RouteOptions } from "./route.ts";

/**
 * The dependencies of the app, which handlers get as their second argument. deps.ts adds the members, because this folder does
 * not import the API's features.
 */
// biome-ignore lint/suspicious/noEmptyInterface: see above.
export interface OperationDeps {}

/** An error code, with example `details` if they differ from the default example. */
type Failure = ErrorCode | readonly [ErrorCode, Readonly<Record<string, unknown>>];

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * A file response. `files` has an example or the schema per media type; null means bytes. The reply's headers set
 * `Content-Type`.
 */
export interface Files {
  readonly description: string;
  readonly files: Readonly<Record<string, string | null | JsonSchema>>;
}

/** A JSON response with options that its schema cannot express. */
export interface DescribedJson {
  readonly json: TSchema;
  /** Replaces the schema's description. */
  readonly description?: string;
  /** The client can request a file instead. The OpenAPI document describes the file as a separate operation. */
  readonly orFile?: true;
}

/** The content of a status; null for no body. The OpenAPI document uses a schema's description and example. */
export type Content = TSchema | DescribedJson | Files | null;
export type Responses = Readonly<Record<number, Content>>;

/** A JSON value of this type, serialized as text or bytes by PostgreSQL or a cache. It is sent unchanged. */
export type JsonText<Value> = (string | Uint8Array<ArrayBuffer>) & { readonly json: Value };

/** Marks serialized JSON as valid for the operation's schema. The tests check every response. */
export function jsonText(text: string | Uint8Array<ArrayBuffer>): JsonText<never> {
  return text as JsonText<never>;
}

/** Merges non-empty JSON objects that are given as text. */
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
  /** The ETag of a conditional operation's content. Default: a hash of the body. */
  etag?: string;
}

/** One of the declared statuses with its body. With an `etag`, a body function is called only if the client lacks the content. */
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
  /** The OpenAPI `operationId`. Generated clients use it as a name. */
  id: string;
  method: Method;
  /** An RFC 6570 template: `/api/v1/models/{provider}/{+modelId}`. `{+name}` matches the rest of the path, with slashes. */
  path: string;
  /** The required credential. pipeline/serve_route.ts checks it before the handler runs. */
  access: A;
  tag: string;
  /** A verb and its object: "Delete a draft". */
  summary: string;
  description: string;
  /** The path parameters, each with a description and an example. */
  params?: P;
  query?: Q;
  /** Like `query`, but the handler parses it, once the caller may learn whether the query is valid. */
  uncheckedQuery?: Query;
  /** The schema of a JSON object. GET has no body. */
  body?: B;
  /** Like `body`, but the handler checks it: after its access checks, or because it accepts partly invalid bodies. */
  uncheckedBody?: TSchema;
  /** Maximum size of the body, if the default for its path is too small. */
  maxBodyBytes?: number;
  /** The operation depends on `X-Org-Slug`. */
  usesOrg?: true;
  /** Additional request headers and their descriptions. */
  requestHeaders?: Readonly<Record<string, string>>;
  response: R;
  /** Additional headers of successful responses. */
  responseHeaders?: Readonly<Record<string, { description: string; schema: TSchema }>>;
  /** GET returns an ETag, and 304 if `If-None-Match` contains it. The body must be text, because the ETag names its encoding. */
  conditional?: true;
  /** Errors of this endpoint that do not follow from the rest of the declaration. */
  fails?: readonly Failure[];
  /** A POST that changes no data that clients can read, so keys of scope `read` can call it. */
  reads?: true;
  /** The forms that the OpenAPI document lists instead of this operation, with the fields that differ. */
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
  /** The request without its body. `requestContext` returns its context. */
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

/** Declares an operation. The types of `handle`'s arguments and result follow from the declaration. */
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
