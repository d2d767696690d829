/** Pages that say what an action will do before it is done: one form with one button. */
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
  /** Also the title of the page: `Archive reviewer 1.0.0`. */
  title: string;
  target: PageAddress;
  /** What the action does, and its consequences. */
  effects: Content;
  /** Fields of the form, if it has any. */
  fields?: Content;
  /** Label of the button; left out if the action is not possible now, which `effects` explains. */
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

/** Renders links back to the definition. */
export function renderBreadcrumb(target: PageAddress): Html {
  return html`<nav class="crumbs" aria-label="Breadcrumb"><a href="/definitions">Definitions</a> /
<a href="${definitionPath(target)}">${target.type} ${fullName(target)}</a></nav>
`;
}

export function effectList(effects: readonly Content[]): Html {
  return html`<ul>${effects.map((effect) => effect && html`<li>${effect}</li>`)}</ul>`;
}

/** Renders the status of a version in a sentence, for an action that it does not allow. */
export function notPossible({ name, version, status }: Definition, possible: string): Html {
  return html`<p>${name} ${version} is ${status}. ${possible}</p>`;
}

/** Texts of the notices after forms about definitions, by name. */
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
