/** Names that people read in lists: one line, shown as it is stored. */

import { invalidInput } from "../http/validation_problems.ts";
import { lineProblem } from "./profile_fields.ts";

/** Throws VALIDATION_ERROR for a text of several lines, or one that would be shown as another than it is. */
export function rejectUnreadable(path: string, text: string): void {
  const message = lineProblem(text);
  if (message) throw invalidInput([{ path, message }]);
}
