/** Pages with one thing to do, in a card: signing in and up, and what links in mails open. */
import { ApiError } from "../../../shared/errors.ts";
import { PASSWORD_MIN_LENGTH } from "../../accounts/password_rules.ts";
import { describeWait } from "../explain_error.ts";
import { explained, type FormProblems, problemSummary } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";

export const PASSWORD_HINT = `At least ${PASSWORD_MIN_LENGTH} characters. Do not use a common password, your username or your email address.`;

interface CardContent extends Pick<PageContent, "title" | "head" | "status"> {
  problems?: FormProblems | null;
  /** Whether the body says what the API refused. */
  isRefused?: boolean;
  /** Below the heading. */
  body: Content;
}

export function cardPage(content: CardContent): PageContent {
  const { title, problems = null, isRefused = false, status, head, body } = content;
  return {
    title: isRefused ? `Error: ${title}` : title,
    section: null,
    hidesAccount: true,
    status,
    head,
    main: html`<div class="card message narrow">
  <h1>${title}</h1>
  ${problemSummary(problems)}
  ${body}
</div>`,
  };
}

/** The page of a link that no longer works: what that means, and where to go. */
export function deadLinkPage(advice: Content, links: Content = null): PageContent {
  const title = "This link no longer works";
  const text = "It has been used, has expired, or was replaced by a newer email.";
  const body = html`<p role="alert">${text} ${advice}</p>${links && html`<p>${links}</p>`}`;
  return cardPage({ title, body });
}

/** The token of a link goes from the address into the form. Following the link changes nothing: mail scanners do that too. */
export function linkTokenField(token: string): Html {
  return html`<input type="hidden" name="token" value="${token}">`;
}

/** Waits for a call. Says how long to wait after too many attempts. */
export function explainLimit<T>(called: Promise<T>): Promise<T> {
  return explained(
    called,
    (error) => error.status === 429 && new ApiError(error.code, { message: describeRefusal(error) }),
  );
}

/** Says why an attempt to sign in was refused, or how long to wait after too many. */
export function describeRefusal({ status, headers, message }: ApiError): string {
  return status === 429 ? `Too many attempts. ${describeWait(Number(headers["Retry-After"]))}` : message;
}
