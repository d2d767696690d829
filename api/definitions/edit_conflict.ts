/** Lost updates: a client that names the `updatedAt` it has read is refused if the version has changed since. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";

/** A body field: `updatedAt` as the caller read it. */
export const ExpectedUpdatedAt = Type.Optional(
  Type.String({
    maxLength: 40,
    description:
      "`updatedAt` as you read it. If the version has changed since, nothing is written: 409 `EDIT_CONFLICT`",
  }),
);

/** Throws EDIT_CONFLICT if a version is not in the state that the caller expects; undefined expects any. */
export function requireUnchanged(row: DefinitionRow, expectedUpdatedAt: string | undefined): void {
  if (expectedUpdatedAt === undefined || expectedUpdatedAt === row.updatedAt) return;
  throw new ApiError("EDIT_CONFLICT", {
    message: TEXTS.EDIT_CONFLICT(row, row.updatedAt),
    details: { updatedAt: row.updatedAt, status: row.status },
  });
}
