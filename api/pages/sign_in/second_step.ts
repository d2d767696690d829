/** The second step of signing in: a code, or with JavaScript a passkey. */
import { ApiError } from "../../../shared/errors.ts";
import { signInWithSecondFactor } from "../../accounts/factors/second_step.ts";
import { withQuery } from "../addresses.ts";
import { html } from "../html.ts";
import type { PageContent } from "../layout.ts";
import { type Page, type PageResult, seeOther } from "../page.ts";
import { PASSKEY_SCRIPT } from "../passkey_script.ts";
import { describeWait } from "./mail_form.ts";
import { nextPath, SIGN_IN_PATH } from "./next_path.ts";

interface SecondStep {
  loginToken: string;
  problem: ApiError | null;
}

/** Signs in with a code or a passkey, and goes on to the next page. */
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
    return renderSecondStep(page, { loginToken, problem: error });
  }
}

/** The password was right: the token of the sign-in is in the form. */
export function renderSecondStep({ url }: Page, { loginToken, problem }: SecondStep): PageContent {
  const next = url.searchParams.get("next");
  const action = withQuery(`${SIGN_IN_PATH}/second-factor`, { next });
  const token = html`<input type="hidden" name="loginToken" value="${loginToken}">`;
  const invalid = problem && html` aria-invalid="true" aria-describedby="problem"`;
  return {
    title: problem ? "Error: Second factor" : "Second factor",
    section: null,
    hidesAccount: true,
    head: PASSKEY_SCRIPT,
    ...(problem ? { status: problem.status } : {}),
    main: html`<div class="card message narrow">
  <h1>Second factor</h1>
  <form class="stacked" method="post" action="${action}">${token}
    <label for="code">Code from your authenticator app, or a recovery code</label>
    <input id="code" name="code" autocomplete="one-time-code" maxlength="64" required autofocus${invalid}>
    <div id="problem" class="problem" role="alert">${problem && describe(problem)}</div>
    <button type="submit" class="primary">Sign in</button>
  </form>
  <form class="stacked" method="post" action="${action}" data-options-from="/api/v1/auth/login/second-factor/options" data-does="get" hidden>${token}
    <input type="hidden" name="passkey">
    <div class="problem" role="alert"></div>
    <button type="submit">Use a passkey</button>
  </form>
  <p><a href="${withQuery(SIGN_IN_PATH, { next })}">Back to sign in</a></p>
</div>`,
  };
}

function describe(problem: ApiError): string {
  return problem.status === 429 ? describeWait(problem) : problem.message;
}
