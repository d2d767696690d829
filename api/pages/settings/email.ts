/** The settings form that changes the email address, and the page that the link in the confirmation mail opens. */
import { EMAIL_MAX_LENGTH } from "../../accounts/profile_fields.ts";
import { confirmEmailChange, requestEmailChange } from "../../accounts/sign_up/change_email.ts";
import { explainPassword, inputField, passwordField, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { type Page, type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { cardPage, deadLinkPage, explainLimit, linkTokenField } from "../sign_in/card_page.ts";

/** Requests a change of the email address. The user confirms it with the link sent to the new address. */
export async function changeEmail({ call, form }: SignedInPage): Promise<Response> {
  const body = { email: (form.get("email") ?? "").trim(), password: form.get("password") ?? "" };
  await explainPassword(call(requestEmailChange, { body }), "password");
  return seeOtherWith("/settings/profile", "email");
}

export function emailForm({ session, form, problems }: SignedInPage): Html {
  return html`<form method="post">${tokenField(session)}<input type="hidden" name="form" value="email">
  <p>Your address is <strong>${session.user.email}</strong>. A new address takes effect once you confirm it with the link we send there.</p>
  ${inputField({ name: "email", label: "New address", problems }, html`type="email" autocomplete="email" maxlength="${EMAIL_MAX_LENGTH}" required value="${form.get("email")}"`)}
  ${passwordField({ name: "password", label: "Password", problems }, "current-password")}
  <div class="actions"><button type="submit" class="primary">Send link</button></div>
</form>`;
}

/** Shows a confirmation form. Opening the link changes nothing, because mail scanners open links too. */
export function showConfirmEmail({ url, form, problems }: Page): PageResult {
  if (problems?.fields.has("token")) {
    return deadLinkPage(html`Your <a href="/settings/profile">settings</a> show your current address.`);
  }
  return cardPage({
    title: "Confirm your new email address",
    problems,
    body: html`<p>After you confirm, you sign in with this address.</p>
  <form method="post" action="/confirm-email">${linkTokenField(url.searchParams.get("token") ?? form.get("token") ?? "")}
    <div class="actions"><button type="submit" class="primary">Confirm address</button></div>
  </form>`,
  });
}

export async function confirmEmail({ form, call }: Page): Promise<PageResult> {
  const body = { token: form.get("token") ?? "" };
  await explainLimit(call(confirmEmailChange, { body }));
  return cardPage({
    title: "Your email address has changed",
    body: html`<p role="status">From now on, you sign in with the new address.</p>
  <p><a class="button" href="/settings/profile">Go to the settings</a></p>`,
  });
}
