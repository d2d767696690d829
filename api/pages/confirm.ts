/** The step before something that cannot be undone: a page of its own, so that it works without JavaScript. */
import { problemSummary, tokenField } from "./forms.ts";
import { type Content, html } from "./html.ts";
import type { PageContent, Section } from "./layout.ts";
import type { SignedInPage } from "./page.ts";

interface Confirmation {
  section: Section;
  /** A question, such as "Revoke this key?" */
  title: string;
  /** The subject, and what will happen. */
  text: Content;
  /** The button that does it. */
  action: string;
  /** Whether it ends the visitor's own session: then a script deletes what this tab stores. */
  signsOut?: boolean;
  /** The address to go back to. */
  cancel: string;
}

/** Returns the page. Its form posts to the page's own address. */
export function confirmPage(
  { session, problems }: Pick<SignedInPage, "session" | "problems">,
  { section, title, text, action, signsOut, cancel }: Confirmation,
): PageContent {
  return {
    title,
    section,
    main: html`<div class="card message">
  <h1>${title}</h1>
  ${problemSummary(problems, () => false)}
  ${text}
  <form method="post">${tokenField(session)}
    <div class="actions"><button type="submit" class="danger"${signsOut && html` value="sign-out"`}>${action}</button> <a class="button" href="${cancel}">Cancel</a></div>
  </form>
</div>`,
  };
}
