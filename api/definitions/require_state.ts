/** The state that a version must have for a write: its status, and the one that the writer has read. */
import { Type } from "@sinclair/typebox";
import { allowedTransitions } from "../../shared/definitions/lifecycle.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { DefinitionStatus } from "../../shared/vocabulary.ts";
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

/** Throws INVALID_TRANSITION if a version cannot change from its status to this one. */
export function requireMove(row: DefinitionRow, to: DefinitionStatus): void {
  const allowed = allowedTransitions(row.status);
  if (allowed.includes(to)) return;
  throw new ApiError("INVALID_TRANSITION", {
    message: TEXTS.INVALID_TRANSITION.status(row, { from: row.status, to }),
    details: { from: row.status, to, allowedTransitions: allowed, applicationState: "not_applied" },
  });
}
