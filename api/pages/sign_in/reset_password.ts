/** The pages of a forgotten password: asking for a mail, and choosing a new password behind its link. */
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from "../../accounts/password_rules.ts";
import { EMAIL_MAX_LENGTH } from "../../accounts/profile_fields.ts";
import {
  requestPasswordReset,
  resetPassword as resetOperation,
} from "../../accounts/sign_up/reset_password.ts";
import { type FormProblems, inputField } from "../forms.ts";
import { html } from "../html.ts";
import { type Page, type PageResult, seeOther } from "../page.ts";
import { cardPage, deadLinkPage, findLimitedProblems, linkTokenField, PASSWORD_HINT } from "./mail_form.ts";
import { SIGN_IN_PATH } from "./next_path.ts";

const FORGOTTEN_PATH = "/forgot-password";
const RESET_PATH = "/reset-password";

export function showForgotten({ url }: Page): PageResult {
  return url.searchParams.has("sent") ? sentPage() : forgottenPage({ email: "", problems: null });
}

/** Says the same for every address. */
export async function requestReset({ form, call }: Page): Promise<PageResult> {
  const email = (form.get("email") ?? "").trim();
  const problems = await findLimitedProblems(() => call(requestPasswordReset, { body: { email } }));
  return problems ? forgottenPage({ email, problems }) : seeOther(`${FORGOTTEN_PATH}?sent`);
}

function forgottenPage({ email, problems }: { email: string; problems: FormProblems | null }): PageResult {
  return cardPage({
    title: "Forgot your password?",
    problems,
    body: html`<p>Enter your account's email address. We will send you a link to choose a new password.</p>
  <form method="post" action="${FORGOTTEN_PATH}">
    ${inputField({ name: "email", label: "Email", problems }, html`type="email" autocomplete="username" maxlength="${EMAIL_MAX_LENGTH}" required autofocus value="${email}"`)}
    <div class="actions"><button type="submit" class="primary">Send link</button></div>
  </form>
  <p><a href="${SIGN_IN_PATH}">Back to sign in</a></p>`,
  });
}

function sentPage(): PageResult {
  return cardPage({
    title: "Check your email",
    body: html`<p role="status">If this address has an account, you will get an email with a link. The link works for one hour.</p>
  <p>No email after a few minutes? Check your spam folder and the address, then <a href="${FORGOTTEN_PATH}">try again</a>. We send at most three emails an hour to an address.</p>
  <p><a href="${SIGN_IN_PATH}">Back to sign in</a></p>`,
  });
}

export function showReset({ url }: Page): PageResult {
  const token = url.searchParams.get("token");
  return token === null ? seeOther(FORGOTTEN_PATH) : resetPage({ token, problems: null });
}

export async function resetPassword({ form, call }: Page): Promise<PageResult> {
  const token = form.get("token") ?? "";
  const newPassword = form.get("newPassword") ?? "";
  const problems = await findLimitedProblems(() => call(resetOperation, { body: { token, newPassword } }));
  if (!problems) return seeOther(`${SIGN_IN_PATH}?reset`);
  if (!problems.fields.has("token")) return resetPage({ token, problems });
  return deadLinkPage(
    "Your password has not changed.",
    html`<a class="button" href="${FORGOTTEN_PATH}">Request a new link</a>`,
  );
}

function resetPage({ token, problems }: { token: string; problems: FormProblems | null }): PageResult {
  return cardPage({
    title: "Choose a new password",
    problems,
    body: html`<form method="post" action="${RESET_PATH}">${linkTokenField(token)}
    ${inputField({ name: "newPassword", label: "New password", hint: PASSWORD_HINT, problems }, html`type="password" autocomplete="new-password" minlength="${PASSWORD_MIN_LENGTH}" maxlength="${PASSWORD_MAX_LENGTH}" required autofocus`)}
    <div class="actions"><button type="submit" class="primary">Set password</button></div>
  </form>
  <p>This signs you out everywhere. Your API keys stay valid. If someone else may have them, revoke them in the settings.</p>
  <p><a href="${SIGN_IN_PATH}">Back to sign in</a></p>`,
  });
}
