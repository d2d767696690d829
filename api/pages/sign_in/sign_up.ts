/** The pages to sign up: the form, and the page of the link in the mail, which creates the account. */
import type { Config } from "../../../shared/process/config.ts";
import { EMAIL_MAX_LENGTH } from "../../accounts/profile_fields.ts";
import { confirmSignUp, signUp as signUpOperation } from "../../accounts/sign_up/sign_up.ts";
import { readCookie, setCookie } from "../../http/cookies.ts";
import { SIGN_IN_PATH, signInPath, withQuery } from "../addresses.ts";
import { inputField, passwordField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { type Page, type PageResult, seeOther } from "../page.ts";
import { cardPage, deadLinkPage, explainLimit, linkTokenField, PASSWORD_HINT } from "./card_page.ts";
import { nextPath } from "./next_path.ts";

const SIGN_UP_PATH = "/sign-up";
const CONFIRM_PATH = "/sign-up/confirm";
const USERNAME_HINT = "Public. Lowercase letters, digits, dots, underscores and hyphens.";

/** The page to open after sign-up, such as an invitation. It stays in the browser, because its address may have a token. */
const NEXT_COOKIE = "ulr_after_sign_up";
const NEXT_SECONDS = 24 * 3600;

function nextCookie({ deps: { config } }: Page, next: string | null): Record<string, string> {
  const value = next === null ? "" : encodeURIComponent(nextPath(next));
  const maxAgeSeconds = next === null ? 0 : NEXT_SECONDS;
  const { publicUrl } = config;
  return { "Set-Cookie": setCookie(NEXT_COOKIE, value, { maxAgeSeconds, path: SIGN_UP_PATH, publicUrl }) };
}

function readNext({ request }: Page): string | null {
  const value = readCookie(request.headers, NEXT_COOKIE);
  try {
    return value ? nextPath(decodeURIComponent(value)) : null;
  } catch {
    return null;
  }
}

/** Requests an account. The response is the same for every email address. */
export async function signUp(page: Page): Promise<PageResult> {
  if (page.deps.config.signUp === "off") return disabledPage();
  const { form, call, url } = page;
  const text = (name: string) => (form.get(name) ?? "").trim();
  const name = text("name");
  const body = {
    email: text("email"),
    username: text("username"),
    password: form.get("password") ?? "",
    ...(name === "" ? {} : { name }),
  };
  await explainLimit(call(signUpOperation, { body }));
  return seeOther(`${SIGN_UP_PATH}?sent`, nextCookie(page, url.searchParams.get("next")));
}

export function showSignUp({ url, form, problems, deps }: Page): PageResult {
  if (deps.config.signUp === "off") return disabledPage();
  if (url.searchParams.has("sent")) return sentPage();
  const next = url.searchParams.get("next");
  const field = (name: string, label: string, attributes: Html, hint?: string) =>
    inputField({ name, label, hint, problems }, html`${attributes} value="${form.get(name)}"`);
  return cardPage({
    title: "Sign up",
    problems,
    body: html`<p>${describeMode(deps.config)} We will email you a link that creates your account.</p>
  <form method="post" action="${withQuery(SIGN_UP_PATH, { next })}">
    ${field("email", "Email", html`type="email" autocomplete="email" maxlength="${EMAIL_MAX_LENGTH}" required${!problems && html` autofocus`}`)}
    ${field("username", "Username", html`autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="63" required`, USERNAME_HINT)}
    ${field("name", "Name (optional)", html`autocomplete="name" maxlength="200"`)}
    ${passwordField({ name: "password", label: "Password", hint: PASSWORD_HINT, problems }, "new-password")}
    <div class="actions"><button type="submit" class="primary">Send link</button></div>
  </form>
  <p>Already have an account? <a href="${signInPath(next)}">Sign in</a></p>`,
  });
}

function describeMode({ signUp, signUpDomains }: Pick<Config, "signUp" | "signUpDomains">): string {
  if (signUp === "open") return "Anyone can sign up.";
  if (signUp === "invited") return "You need an invitation sent to your email address.";
  return `You need an email address at ${signUpDomains.join(" or ")}, or an invitation.`;
}

function disabledPage(): PageResult {
  return cardPage({
    title: "Sign-up is disabled",
    status: 403,
    body: html`<p>Ask an operator of this service for an account.</p>
  <p><a href="${SIGN_IN_PATH}">Sign in</a></p>`,
  });
}

function sentPage(): PageResult {
  return cardPage({
    title: "Check your email",
    body: html`<p role="status">If this address can sign up here, you will get an email with a link. The link works for 24 hours.</p>
  <p>No email after a few minutes? Check your spam folder and the address, then <a href="${SIGN_UP_PATH}">try again</a>. We send at most three emails an hour to an address. The newest one works, even if someone else signed up with your address.</p>
  <p><a href="${SIGN_IN_PATH}">Back to sign in</a></p>`,
  });
}

export async function confirm(page: Page): Promise<PageResult> {
  const { form, call } = page;
  const username = form.get("username")?.trim() ?? null;
  const newPassword = form.get("newPassword");
  const body = {
    token: form.get("token") ?? "",
    ...(newPassword === null ? { password: form.get("password") ?? "" } : { newPassword }),
    ...(username === null ? {} : { username }),
  };
  await explainLimit(call(confirmSignUp, { body }));
  const next = readNext(page);
  const query = new URLSearchParams({ ...(next === null ? {} : { next }), "signed-up": "" });
  return seeOther(`${SIGN_IN_PATH}?${query}`, nextCookie(page, null));
}

/**
 * Shows the form that creates the account. Asks for another username if the chosen one is taken. Asks for a new password if
 * someone else signed up or the user forgot the password.
 */
export function showConfirm({ url, form, problems }: Page): PageResult {
  const token = url.searchParams.get("token") ?? form.get("token");
  if (token === null) return seeOther(SIGN_UP_PATH);
  if (problems?.code === "SIGN_UP_DISABLED") return disabledPage();
  if (problems?.fields.has("token")) {
    return deadLinkPage(
      "If you used it, your account is ready.",
      html`<a class="button" href="${SIGN_IN_PATH}?dead-link">Sign in</a> <a class="button" href="${SIGN_UP_PATH}">Sign up again</a>`,
    );
  }
  const isNew = url.searchParams.has("new") || form.has("newPassword");
  const isAsked = isNew || form.has("username") || problems?.fields.has("username");
  const usernameField =
    isAsked &&
    inputField(
      { name: "username", label: "Username", hint: USERNAME_HINT, problems },
      html`autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="63" required${!problems && html` autofocus`} value="${form.get("username")}"`,
    );
  const label = "Password";
  const hint = "The one you chose when you signed up.";
  const focus = !isAsked && !problems && html` autofocus`;
  const password = isNew
    ? passwordField({ name: "newPassword", label, hint: PASSWORD_HINT, problems }, "new-password")
    : passwordField({ name: "password", label, hint, problems }, "current-password", focus);
  return cardPage({
    title: "Create your account",
    problems,
    body: html`<form method="post" action="${CONFIRM_PATH}">${linkTokenField(token)}
    ${usernameField || html`<p>One more step: create the account with the username you chose.</p>`}
    ${password}
    <div class="actions"><button type="submit" class="primary">Create account</button></div>
  </form>
  ${!isNew && html`<p>Did someone else sign up with your address, or did you forget the password? <a href="${withQuery(CONFIRM_PATH, { token, new: "true" })}">Choose a username and password</a></p>`}`,
  });
}
