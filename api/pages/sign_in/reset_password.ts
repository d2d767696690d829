/** The pages for a forgotten password: requesting a mail, and choosing a new password with its link. */
import { EMAIL_MAX_LENGTH } from "../../accounts/profile_fields.ts";
import {
  requestPasswordReset,
  resetPassword as resetOperation,
} from "../../accounts/sign_up/reset_password.ts";
import { SIGN_IN_PATH } from "../addresses.ts";
import { inputField, passwordField } from "../forms.ts";
import { html } from "../html.ts";
import { type Page, type PageResult, seeOther } from "../page.ts";
import { cardPage, deadLinkPage, explainLimit, linkTokenField, PASSWORD_HINT } from "./card_page.ts";

const FORGOTTEN_PATH = "/forgot-password";

/** Requests a mail with a link. The response is the same for every email address. */
export async function requestReset({ form, call }: Page): Promise<PageResult> {
  const email = (form.get("email") ?? "").trim();
  await explainLimit(call(requestPasswordReset, { body: { email } }));
  return seeOther(`${FORGOTTEN_PATH}?sent`);
}

export function showForgotten({ url, form, problems }: Page): PageResult {
  if (url.searchParams.has("sent")) return sentPage();
  return cardPage({
    title: "Forgot your password?",
    problems,
    body: html`<p>Enter your account's email address. We will send you a link to choose a new password.</p>
  <form method="post" action="${FORGOTTEN_PATH}">
    ${inputField({ name: "email", label: "Email", problems }, html`type="email" autocomplete="username" maxlength="${EMAIL_MAX_LENGTH}" required${!problems && html` autofocus`} value="${form.get("email")}"`)}
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

export async function resetPassword({ form, call }: Page): Promise<PageResult> {
  const body = { token: form.get("token") ?? "", newPassword: form.get("newPassword") ?? "" };
  await explainLimit(call(resetOperation, { body }));
  return seeOther(`${SIGN_IN_PATH}?reset`);
}

export function showReset({ url, form, problems }: Page): PageResult {
  const token = url.searchParams.get("token") ?? form.get("token");
  if (token === null) return seeOther(FORGOTTEN_PATH);
  if (problems?.fields.has("token")) {
    return deadLinkPage(
      "If you have just set a password with it, that password counts. Otherwise, your password has not changed.",
      html`<a class="button" href="${SIGN_IN_PATH}?dead-link">Sign in</a> <a class="button" href="${FORGOTTEN_PATH}">Request a new link</a>`,
    );
  }
  return cardPage({
    title: "Choose a new password",
    problems,
    body: html`<form method="post" action="/reset-password">${linkTokenField(token)}
    ${passwordField({ name: "newPassword", label: "New password", hint: PASSWORD_HINT, problems }, "new-password", !problems && html` autofocus`)}
    <div class="actions"><button type="submit" class="primary">Set password</button></div>
  </form>
  <p>This signs you out everywhere. Your API keys stay valid. If someone else may have them, revoke them in the settings.</p>
  <p><a href="${SIGN_IN_PATH}">Back to sign in</a></p>`,
  });
}
