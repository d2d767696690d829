/** The sign-in page, its form, and signing out. */
import { ApiError } from "../../../shared/errors.ts";
import { logout } from "../../accounts/sessions.ts";
import { login } from "../../accounts/sign_in/login.ts";
import { SIGN_IN_PATH, signInPath, withQuery } from "../addresses.ts";
import { html } from "../html.ts";
import { type Page, type PageResult, seeOther } from "../page.ts";
import { CLEARED_ORG, SESSION_ENDED } from "../page_session.ts";
import { cardPage, describeRefusal } from "./card_page.ts";
import { nextPath } from "./next_path.ts";
import { renderSecondStep } from "./second_step.ts";

/** Parameters of addresses to which links in mails lead. The link's account may differ from the session's. */
const AFTER_LINK = ["reset", "signed-up", "dead-link"];

/** Shows the form. Redirects signed-in visitors to the next page, unless they come from a link in a mail. */
export function showSignIn(page: Page): PageResult {
  const { searchParams } = page.url;
  const isAfterLink = AFTER_LINK.some((name) => searchParams.has(name));
  if (page.session && !isAfterLink) return seeOther(nextPath(searchParams.get("next")));
  return renderSignIn(page, null);
}

/** Signs in and redirects to the next page. Shows the form again after wrong credentials or too many attempts. */
export async function signIn(page: Page): Promise<PageResult> {
  const email = (page.form.get("email") ?? "").trim();
  const password = page.form.get("password") ?? "";
  try {
    const response = await page.send(login, { body: { email, password } });
    const cookie = response.headers.get("set-cookie") ?? "";
    return seeOther(nextPath(page.url.searchParams.get("next")), { "Set-Cookie": cookie });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    if (error.code === "SECOND_FACTOR_REQUIRED") {
      const { loginToken, methods } = error.details as { loginToken: string; methods: readonly string[] };
      return renderSecondStep(page, { loginToken, methods, problem: null });
    }
    return renderSignIn(page, error);
  }
}

/** Ends the session, if there is one, and redirects to the sign-in page. */
export async function signOut(page: Page): Promise<Response> {
  return page.session ? endSession(page, SIGN_IN_PATH) : seeOther(SIGN_IN_PATH);
}

export async function endSession({ send }: Page, location: string): Promise<Response> {
  return seeSignedOut(location, await send(logout));
}

/** Redirects after the API has ended the session, and makes the browser delete the account's data. */
export function seeSignedOut(location: string, { headers }: Response): Response {
  const response = seeOther(location, { "Clear-Site-Data": headers.get("clear-site-data") ?? "" });
  for (const cookie of [...headers.getSetCookie(), CLEARED_ORG])
    response.headers.append("Set-Cookie", cookie);
  return response;
}

function renderSignIn({ url, form, deps }: Page, problem: ApiError | null): PageResult {
  const email = (form.get("email") ?? "").trim();
  const next = url.searchParams.get("next");
  const action = signInPath(next);
  const hasEnded = url.searchParams.has(SESSION_ENDED) && !problem;
  const isNew = url.searchParams.has("signed-up") && !problem;
  const isReset = url.searchParams.has("reset") && !problem;
  const invalid = problem?.status === 401 && html` aria-invalid="true"`;
  // The user types the password again but not the email.
  const [focusEmail, focusPassword] = email === "" ? [html` autofocus`, null] : [null, html` autofocus`];
  const describedBy = problem && html` aria-describedby="problem"`;
  return cardPage({
    title: "Sign in",
    isRefused: problem !== null,
    status: problem?.status,
    body: html`${hasEnded && html`<p class="notice">Your session has expired. Nothing was changed. Sign in to continue.</p>`}
  ${isNew && html`<p class="notice" role="status">Your account is ready. Sign in to continue.</p>`}
  ${isReset && html`<p class="notice" role="status">Your password has been changed. Sign in with the new one.</p>`}
  <form id="sign-in" class="stacked" method="post" action="${action}">
    <label for="email">Email</label>
    <input id="email" name="email" type="email" autocomplete="username" maxlength="320" required value="${email}"${invalid}${describedBy}${focusEmail}>
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required${invalid}${describedBy}${focusPassword}>
    <div id="problem" class="problem" role="alert">${problem && describe(problem)}</div>
    <button type="submit" class="primary">Sign in</button>
  </form>
  <p><a href="/forgot-password">Forgot your password?</a></p>
  ${deps.config.signUp !== "off" && html`<p>No account? <a href="${withQuery("/sign-up", { next })}">Sign up</a></p>`}`,
  });
}

function describe(problem: ApiError): string {
  return problem.status === 401 ? "Wrong email or password." : describeRefusal(problem);
}
