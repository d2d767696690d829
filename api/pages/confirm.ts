/** The confirmation page before an action that cannot be undone. A separate page works without JavaScript. */
import { problemSummary, tokenField } from "./forms.ts";
import { type Content, html } from "./html.ts";
import type { PageContent, Section } from "./layout.ts";
import type { SignedInPage } from "./page.ts";

interface Confirmation {
  section: Section;
  /** A question, such as "Revoke this key?" */
  title: string;
  /** The subject of the action, and its consequences. */
  text: Content;
  /** The label of the button that performs the action. */
  action: string;
  /** Whether the action ends the visitor's own session. A script then deletes this tab's stored data. */
  signsOut?: boolean;
  /** The address of the Cancel link. */
  cancel: string;
}

/** Returns a confirmation page, whose form posts to the page's own address. */
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
