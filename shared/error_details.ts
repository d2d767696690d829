/** What the rows of the table of errors are made of: the schemas of details, times to wait. */
import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { Line, Text } from "./schemas.ts";

/** Seconds after which a request may succeed, for `Retry-After`. */
export const RETRY_AFTER = {
  /** Another request writes the same. */
  conflict: 1,
  /** Others wait for the same work. */
  queue: 2,
  /** A failover of the database takes some seconds. */
  database: 5,
  /** A response that is being sent ends. */
  stream: 5,
  /** An export is built, or a transaction holds its cutoff back. */
  build: 10,
  /** Long enough for a failover of the storage. */
  storage: 30,
} as const;

export const InputProblem = Type.Object(
  {
    path: Type.Optional(
      Type.String({ description: "Path of the value; empty for the whole document or body" }),
    ),
    message: Text,
    code: Type.Optional(Type.String({ description: "Error code of this problem; only for documents" })),
    index: Type.Optional(
      Type.Integer({ minimum: 0, description: "Position of the document in a batch, from 0" }),
    ),
    line: Type.Optional(Line),
    column: Type.Optional(Line),
  },
  { title: "InputProblem", additionalProperties: true },
);

/** A row whose errors have details. `text` is the message with the details in it, if they say more. */
export function row<const Fields extends TProperties>(options: {
  status: number;
  /** The message without details. */
  message: string;
  retryAfter?: number;
  details: Fields;
  text?(details: Static<TObject<Fields>>): string | undefined;
}) {
  // Clients ignore fields that they do not know, because more may be added.
  return { ...options, details: Type.Object(options.details, { additionalProperties: true }) };
}
