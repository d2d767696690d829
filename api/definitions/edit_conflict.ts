/** Lets a writer name the state of a version that they have read, so that they do not overwrite or publish another one. */
import { Type } from "@sinclair/typebox";
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
    message: `Cannot change ${row.type} "${row.name}@${row.version}": it has changed since you read it, at ${row.updatedAt}. Read it again, then repeat your change.`,
    details: { updatedAt: row.updatedAt, status: row.status },
  });
}
