/** Checks status changes of a version. */
import { allowedTransitions } from "../../shared/definitions/lifecycle.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { DefinitionStatus } from "../../shared/vocabulary.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";

/** Throws INVALID_TRANSITION if a version cannot change from its status to this one. */
export function requireMove(row: DefinitionRow, to: DefinitionStatus): void {
  const allowed = allowedTransitions(row.status);
  if (allowed.includes(to)) return;
  throw new ApiError("INVALID_TRANSITION", {
    message: TEXTS.INVALID_TRANSITION.status(
      { type: row.type, address: `${row.name}@${row.version}` },
      { from: row.status, to },
    ),
    details: { from: row.status, to, allowedTransitions: allowed, applicationState: "not_applied" },
  });
}
