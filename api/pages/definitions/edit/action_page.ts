/** Pages that explain an action before the user confirms it. Each page has one form with one button. */
import type { Definition } from "../../../../sql/definitions/fields.ts";
import { definitionPath } from "../../addresses.ts";
import { onceField, problemSummary, tokenField } from "../../forms.ts";
import { type Content, type Html, html } from "../../html.ts";
import type { PageContent } from "../../layout.ts";
import { renderNotice } from "../../notice.ts";
import type { SignedInPage } from "../../page.ts";
import type { PageSession } from "../../page_session.ts";
import { fullName, type PageAddress } from "../page_address.ts";

interface ActionForm extends Pick<PageContent, "head" | "status"> {
  /** The page's title and heading, such as `Archive reviewer 1.0.0`. */
  title: string;
  target: PageAddress;
  /** A description of the action and its consequences. */
  effects: Content;
  /** The form's fields, if any. */
  fields?: Content;
  /** The button's label. Omitted if the action is not possible now; `effects` explains why. */
  button?: string | null;
}

export function actionPage({ session, notice, problems }: SignedInPage, form: ActionForm): PageContent {
  const { title, target, head, status } = form;
  return {
    title,
    section: "definitions",
    head,
    status,
    main: html`${renderBreadcrumb(target)}${renderNotice(notice, NOTICES)}<h1>${title}</h1>
${problemSummary(problems, (path) => !path.includes("."))}
${renderForm(session, form)}`,
  };
}

function renderForm(session: PageSession, { target, effects, fields, button = null }: ActionForm): Html {
  const back = html`<a class="button" href="${definitionPath(target)}">${button === null ? "Back" : "Cancel"}</a>`;
  if (button === null) return html`<div class="card stack">${effects}<p class="actions">${back}</p></div>`;
  return html`<form method="post" class="card stack">
  ${tokenField(session)}${onceField()}
  ${effects}
  ${fields}
  <p class="actions"><button type="submit" class="primary">${button}</button> ${back}</p>
</form>`;
}

/** Renders links to the list of definitions and to the definition. */
export function renderBreadcrumb(target: PageAddress): Html {
  return html`<nav class="crumbs" aria-label="Breadcrumb"><a href="/definitions">Definitions</a> /
<a href="${definitionPath(target)}">${target.type} ${fullName(target)}</a></nav>
`;
}

export function effectList(effects: readonly Content[]): Html {
  return html`<ul>${effects.map((effect) => effect && html`<li>${effect}</li>`)}</ul>`;
}

/** Explains that the status of a version does not allow an action. `possible` states the required status. */
export function notPossible({ name, version, status }: Definition, possible: string): Html {
  return html`<p>${name} ${version} is ${status}. ${possible}</p>`;
}

/** Texts of the notices after definition forms, by name. */
export const NOTICES: Readonly<Record<string, string>> = {
  saved: "The draft is saved.",
  published: "Published. This version can no longer change.",
  deprecated: "This version is deprecated.",
  archived: "This version is archived.",
  retranslated: "The Markdown was rendered again.",
  unchanged: "The current translator renders the same Markdown. Nothing was changed.",
  untranslatable: "The current translator cannot render this document. The stored Markdown was kept.",
  forked: "Forked. This is the first draft of your copy.",
};
