/** Pages whose mail goes to a person who is not signed in, and pages that links in mails open. */
import { ApiError } from "../../../shared/errors.ts";
import { PASSWORD_MIN_LENGTH } from "../../accounts/password_rules.ts";
import { describeWait } from "../explain_error.ts";
import { type FormProblems, findProblems, problemSummary } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";

export const PASSWORD_HINT = `At least ${PASSWORD_MIN_LENGTH} characters. Do not use a common password, your username or your email address.`;

interface CardContent {
  title: string;
  problems?: FormProblems | null;
  /** Without problems; 200 when left out. */
  status?: number;
  /** Below the heading. */
  body: Content;
}

/** A page with one thing to do, in a card. */
export function cardPage({ title, problems = null, status, body }: CardContent): PageContent {
  return {
    title: problems ? `Error: ${title}` : title,
    section: null,
    hidesAccount: true,
    status: problems?.status ?? status,
    main: html`<div class="card message narrow">
  <h1>${title}</h1>
  ${problemSummary(problems)}
  ${body}
</div>`,
  };
}

/** The page of a link that does not work any more: what that means, and where to go. */
export function deadLinkPage(advice: Content, links: Content = null): PageContent {
  const title = "This link no longer works";
  const text = "It has been used, has expired, or was replaced by a newer email.";
  const body = html`<p role="alert">${text} ${advice}</p>${links && html`<p>${links}</p>`}`;
  return cardPage({ title, status: 400, body });
}

/** The token of a link goes from the address into the form. Following the link changes nothing: mail scanners do that too. */
export function linkTokenField(token: string): Html {
  return html`<input type="hidden" name="token" value="${token}">`;
}

/** As `findProblems`, with the wait of a limit in words. */
export async function findLimitedProblems(write: () => Promise<unknown>): Promise<FormProblems | null> {
  return findProblems(async () => {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429) throw error;
      throw new ApiError(error.code, { message: tooManyAttempts(error), headers: error.headers });
    }
  });
}

/** Says how long to wait after too many attempts. */
export function tooManyAttempts({ headers }: ApiError): string {
  return `Too many attempts. ${describeWait(Number(headers["Retry-After"]))}`;
}
