/** The pages of a forgotten password: asking for a mail, and choosing a new password behind its link. */
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from "../../accounts/password_rules.ts";
import { EMAIL_MAX_LENGTH } from "../../accounts/profile_fields.ts";
import { type FormProblems, formField } from "../forms.ts";
import { html } from "../html.ts";
import { type Page, type PageResult, seeOther } from "../page.ts";
import { cardPage, findLimitedProblems, linkTokenField } from "./mail_form.ts";
import { SIGN_IN_PATH } from "./next_path.ts";

const FORGOTTEN_PATH = "/forgot-password";
const RESET_PATH = "/reset-password";

export function showForgotten({ url }: Page): PageResult {
  return url.searchParams.has("sent") ? sentPage() : forgottenPage({ email: "", problems: null });
}

/** Says the same for every address. */
export async function requestReset({ form, api }: Page): Promise<PageResult> {
  const email = (form.get("email") ?? "").trim();
  const problems = await findLimitedProblems(() =>
    api("/auth/password/reset", { method: "POST", body: { email } }),
  );
  return problems ? forgottenPage({ email, problems }) : seeOther(`${FORGOTTEN_PATH}?sent`);
}

function forgottenPage({ email, problems }: { email: string; problems: FormProblems | null }): PageResult {
  return cardPage({
    title: "Forgot your password?",
    problems,
    body: html`<p>Enter the email address of your account. We send you a link to a page where you choose a new password.</p>
  <form method="post" action="${FORGOTTEN_PATH}">
    ${formField(
      { name: "email", label: "Email", problems },
      (attributes) =>
        html`<input ${attributes} type="email" autocomplete="username" maxlength="${EMAIL_MAX_LENGTH}" required autofocus value="${email}">`,
    )}
    <div class="actions"><button type="submit" class="primary">Send the link</button></div>
  </form>
  <p><a href="${SIGN_IN_PATH}">Back to sign in</a></p>`,
  });
}

function sentPage(): PageResult {
  return cardPage({
    title: "Look at your mail",
    body: html`<p role="status">If there is an account with this address, a mail with a link is on its way. The link works for an hour.</p>
  <p>No mail after a few minutes? Look in the spam folder, check the address, and <a href="${FORGOTTEN_PATH}">try again</a>. An address gets at most three mails an hour.</p>`,
  });
}

export function showReset({ url }: Page): PageResult {
  const token = url.searchParams.get("token");
  return token === null ? seeOther(FORGOTTEN_PATH) : resetPage({ token, problems: null });
}

export async function resetPassword({ form, api }: Page): Promise<PageResult> {
  const token = form.get("token") ?? "";
  const newPassword = form.get("newPassword") ?? "";
  const problems = await findLimitedProblems(() =>
    api("/auth/password/reset/confirm", { method: "POST", body: { token, newPassword } }),
  );
  if (!problems) return seeOther(`${SIGN_IN_PATH}?reset`);
  return problems.fields.has("token") ? deadLinkPage() : resetPage({ token, problems });
}

function resetPage({ token, problems }: { token: string; problems: FormProblems | null }): PageResult {
  return cardPage({
    title: "Choose a new password",
    problems,
    body: html`<form method="post" action="${RESET_PATH}">${linkTokenField(token)}
    ${formField(
      {
        name: "newPassword",
        label: "New password",
        hint: `At least ${PASSWORD_MIN_LENGTH} characters. Not a common password, nor your username or address.`,
        problems,
      },
      (attributes) =>
        html`<input ${attributes} type="password" autocomplete="new-password" minlength="${PASSWORD_MIN_LENGTH}" maxlength="${PASSWORD_MAX_LENGTH}" required autofocus>`,
    )}
    <div class="actions"><button type="submit" class="primary">Set the password</button></div>
  </form>
  <p>This signs you out everywhere. Your API keys stay valid: if somebody else may have them, revoke them in the settings.</p>`,
  });
}

function deadLinkPage(): PageResult {
  return {
    ...cardPage({
      title: "This link does not work",
      body: html`<p role="alert">It was used, has expired, or a newer mail has replaced it. Your password is as it was.</p>
  <p><a class="button" href="${FORGOTTEN_PATH}">Ask for a new link</a></p>`,
    }),
    status: 400,
  };
}
