/** Pages with a single task, in a card: signing in, signing up, and the pages that links in mails open. */
import { ApiError } from "../../../shared/errors.ts";
import { PASSWORD_MIN_LENGTH } from "../../accounts/password_rules.ts";
import { describeWait } from "../explain_error.ts";
import { explained, type FormProblems, problemSummary } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContent } from "../layout.ts";

export const PASSWORD_HINT = `At least ${PASSWORD_MIN_LENGTH} characters. Do not use a common password, your username or your email address.`;

interface CardContent extends Pick<PageContent, "title" | "head" | "status"> {
  problems?: FormProblems | null;
  /** Whether the body shows the API's error. */
  isRefused?: boolean;
  /** The content below the heading. */
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

/** Returns the page for a link that no longer works, with an explanation and links to other pages. */
export function deadLinkPage(advice: Content, links: Content = null): PageContent {
  const title = "This link no longer works";
  const text = "It has been used, has expired, or was replaced by a newer email.";
  const body = html`<p role="alert">${text} ${advice}</p>${links && html`<p>${links}</p>`}`;
  return cardPage({ title, body });
}

/** Renders a link's token as a hidden field. Opening the link changes nothing, because mail scanners open links too. */
export function linkTokenField(token: string): Html {
  return html`<input type="hidden" name="token" value="${token}">`;
}

/** Waits for a call. After too many attempts, throws an error with the waiting time. */
export function explainLimit<T>(called: Promise<T>): Promise<T> {
  return explained(
    called,
    (error) => error.status === 429 && new ApiError(error.code, { message: describeRefusal(error) }),
  );
}

/** Returns the reason why a sign-in was rejected, or the waiting time after too many attempts. */
export function describeRefusal({ status, headers, message }: ApiError): string {
  return status === 429 ? `Too many attempts. ${describeWait(Number(headers["Retry-After"]))}` : message;
}
