/** The parts of the rows in the table of errors: schemas of details, and retry delays. */
import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { Line, Text } from "./schemas.ts";

/** The number of seconds after which a retry may succeed, for `Retry-After`. */
export const RETRY_AFTER = {
  /** Another request writes the same data. */
  conflict: 1,
  /** Other requests wait for the same work. */
  queue: 2,
  /** A failover of the database takes a few seconds. */
  database: 5,
  /** Another response is being sent. */
  stream: 5,
  /** An export is being built, or a transaction holds back the cutoff. */
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

/** Returns a row for errors with details. `text` returns a message that contains the details, if they add information. */
export function row<const Fields extends TProperties>(options: {
  status: number;
  /** The message without details. */
  message: string;
  retryAfter?: number;
  details: Fields;
  text?(details: Static<TObject<Fields>>): string | undefined;
}) {
  // Additional properties are allowed, so that clients ignore fields added later.
  return { ...options, details: Type.Object(options.details, { additionalProperties: true }) };
}
