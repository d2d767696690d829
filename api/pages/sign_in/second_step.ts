/** The second step of signing in: a code or, with JavaScript, a passkey. */
import { ApiError } from "../../../shared/errors.ts";
import { signInWithSecondFactor } from "../../accounts/sign_in/second_step.ts";
import { SIGN_IN_PATH, signInPath, withQuery } from "../addresses.ts";
import { codeLabel, PASSKEY_MISSING, PASSKEY_SCRIPT, passkeyForm } from "../factor_forms.ts";
import { html } from "../html.ts";
import { type Page, type PageResult, seeOther } from "../page.ts";
import { cardPage, describeRefusal } from "./card_page.ts";
import { nextPath } from "./next_path.ts";

interface SecondStep {
  loginToken: string;
  /** The user's methods, as returned by the first step: `totp`, `recovery_code`, `passkey`. */
  methods: readonly string[];
  problem: ApiError | null;
}

/** Signs in with a code or a passkey, and redirects to the next page. */
export async function takeSecondStep(page: Page): Promise<PageResult> {
  const loginToken = page.form.get("loginToken") ?? "";
  const code = page.form.get("code");
  const passkey = page.form.get("passkey");
  const body = { loginToken, ...(code === null ? {} : { code }), ...(passkey ? { passkey } : {}) };
  try {
    const response = await page.send(signInWithSecondFactor, { body });
    const cookie = response.headers.get("set-cookie") ?? "";
    return seeOther(nextPath(page.url.searchParams.get("next")), { "Set-Cookie": cookie });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    // Forms from an earlier release have no `methods`.
    const methods = (page.form.get("methods") ?? "totp recovery_code").split(" ");
    return renderSecondStep(page, { loginToken, methods, problem: error });
  }
}

/** Renders the forms for the user's methods after a correct password. The forms contain the token of the sign-in. */
export function renderSecondStep({ url }: Page, { loginToken, methods, problem }: SecondStep): PageResult {
  const next = url.searchParams.get("next");
  const action = withQuery(`${SIGN_IN_PATH}/second-factor`, { next });
  const hidden = html`<input type="hidden" name="loginToken" value="${loginToken}">
    <input type="hidden" name="methods" value="${methods.join(" ")}">`;
  const label = codeLabel(methods);
  const invalid = problem && html` aria-invalid="true" aria-describedby="problem"`;
  return cardPage({
    title: "Second factor",
    isRefused: problem !== null,
    status: problem?.status,
    head: PASSKEY_SCRIPT,
    body: html`<div id="problem" class="problem" role="alert">${problem && describeRefusal(problem)}</div>
  ${
    label !== null &&
    html`<form class="stacked" method="post" action="${action}">${hidden}
    <label for="code">${label}</label>
    <input id="code" name="code" autocomplete="one-time-code" maxlength="64" required autofocus${invalid}>
    <button type="submit" class="primary">Sign in</button>
  </form>`
  }
  ${methods.includes("passkey") && html`${PASSKEY_MISSING}${passkeyForm({ does: "get", options: "/login/second-factor/options", action }, hidden, "Use a passkey")}`}
  <p><a href="${signInPath(next)}">Back to sign in</a></p>`,
  });
}
