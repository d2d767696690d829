/** The form that changes the password. What was typed is never sent back. */

import { ApiError } from "../../../shared/errors.ts";
import { changePassword as passwordOperation } from "../../accounts/change_password.ts";
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from "../../accounts/password_rules.ts";
import { type FormProblems, findProblems, formField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import type { SignedInPage } from "../page.ts";

/** Changes the password. Returns what is wrong with the form, or null. */
export async function changePassword({ call, form }: SignedInPage): Promise<FormProblems | null> {
  const currentPassword = form.get("currentPassword") ?? "";
  const newPassword = form.get("newPassword") ?? "";
  if (newPassword !== form.get("repeatedPassword")) {
    return fieldProblem("repeatedPassword", "must be the same as the new password");
  }
  const body = { currentPassword, newPassword };
  try {
    return await findProblems(() => call(passwordOperation, { body }));
  } catch (error) {
    // The session is valid, or there would be no form: only the password is wrong. A page of status 401 would say otherwise.
    if (!(error instanceof ApiError) || error.code !== "UNAUTHORIZED") throw error;
    return fieldProblem("currentPassword", "is wrong", error.message);
  }
}

/** Returns a problem of one field, as the API reports it. */
export function fieldProblem(
  path: string,
  problem: string,
  message = `Invalid request: ${path} ${problem}.`,
): FormProblems {
  return { status: 400, code: "VALIDATION_ERROR", message, details: {}, fields: new Map([[path, problem]]) };
}

/** Renders the form, always empty. The username is for password managers. */
export function passwordForm(
  token: Html,
  { username, problems }: { username: string; problems: FormProblems | null },
): Html {
  const field = (name: string, label: string, autocomplete: string, hint?: string) =>
    formField(
      { name, label, problems, ...(hint === undefined ? {} : { hint }) },
      (attributes) =>
        html`<input ${attributes} type="password" autocomplete="${autocomplete}" required maxlength="${PASSWORD_MAX_LENGTH}">`,
    );
  return html`<form method="post">${token}<input type="hidden" name="form" value="password">
  <input type="text" name="username" value="${username}" autocomplete="username" hidden>
  ${field("currentPassword", "Current password", "current-password")}
  ${field("newPassword", "New password", "new-password", `At least ${PASSWORD_MIN_LENGTH} characters, and not a common password.`)}
  ${field("repeatedPassword", "New password again", "new-password")}
  <div class="actions"><button type="submit" class="primary">Change password</button></div>
</form>`;
}
