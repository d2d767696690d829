/** The token of a link in a mail, as requests send it. How long a link works is in shared/account_mails.ts. */
import { Type } from "@sinclair/typebox";
import type { ApiError } from "../../../shared/errors.ts";
import { invalidField } from "../../http/validation_problems.ts";

export const EXAMPLE_TOKEN = "Q2hhbmdlIG1lIGJlZm9yZSB5b3UgdXNlIG1lLCBwbHM";

export const LinkToken = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "From the link in the email. Works once",
  examples: [EXAMPLE_TOKEN],
});

/** Returns the error for a link that does not work, whatever the reason. */
export function invalidLink(): ApiError {
  return invalidField("token", "is unknown, used or expired: request a new email");
}
