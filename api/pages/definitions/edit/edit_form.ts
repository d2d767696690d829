/** The form in which publishers edit a document: a new definition, a draft, or the next version. */
import {
  DEFINITION_TYPES,
  DEFINITION_VISIBILITIES,
  type DefinitionType,
} from "../../../../shared/vocabulary.ts";
import type { Definition } from "../../../../sql/definitions/fields.ts";
import type { Report } from "../../../definitions/batch/schemas.ts";
import {
  type Field,
  type FormProblems,
  inputField,
  onceField,
  selectField,
  textField,
  tokenField,
  UNSAVED_OFFER,
} from "../../forms.ts";
import { type Content, type Html, html } from "../../html.ts";
import type { PageContent } from "../../layout.ts";
import type { SignedInPage } from "../../page.ts";
import { renderReport } from "./check_report.ts";
import { type DocumentProblem, renderProblems } from "./document_problems.ts";

/** The user's input, or the form's initial values. */
export interface EditFields {
  type: DefinitionType;
  yaml: string;
  visibility: string;
  changeSummary: string;
  /** The summary when the form was loaded. */
  savedSummary: string;
  /** The edited draft's `updatedAt`; empty if saving adds a version. */
  expectedUpdatedAt: string;
}

/** The form's initial values for a new version, which has no draft yet. */
export const NO_EDIT = { changeSummary: "", savedSummary: "", expectedUpdatedAt: "" };

type StoredDraft = Pick<Definition, "yaml" | "visibility">;

interface EditForm {
  title: string;
  /** Content above the title. */
  before?: Content;
  /** A description of what saving does. */
  lead: Content;
  fields: EditFields;
  /** Whether the user can choose the type. */
  choosesType: boolean;
  /** The version of the edited draft; null if saving adds a version. */
  own: string | null;
  report: Report | null;
  /** The stored draft, if it has changed since the form was loaded. */
  stored?: StoredDraft | null;
  /** Links to other actions, below the form. */
  after?: Content;
}

/** The script for pages with this form. */
export const EDITOR_HEAD = html`<script type="module" src="/dashboard/assets/yaml_editor.js"></script>`;

export function editPage({ session, problems }: SignedInPage, form: EditForm): PageContent {
  const { title, before, lead, fields, report, stored, own, choosesType, after } = form;
  return {
    title,
    section: "definitions",
    head: EDITOR_HEAD,
    main: html`${before}<h1>${title}</h1>
<p class="lead">${lead}</p>
${problems && renderSaveProblems(problems, fields.yaml)}
${stored && renderConflict(stored, fields)}
${report && renderReport(report, { yaml: fields.yaml, own })}
<form method="post" class="card stack">
  ${tokenField(session)}${onceField()}
  <input type="hidden" name="expectedUpdatedAt" value="${fields.expectedUpdatedAt}">
  ${own !== null && html`<input type="hidden" name="savedSummary" value="${fields.savedSummary}">`}
  ${choosesType ? renderType(fields.type, problems) : html`<input type="hidden" name="type" value="${fields.type}">`}
  ${yamlField({ hint: "Name and version are those in the YAML. At most 150 KiB.", problems }, fields.yaml)}
  ${renderVisibility(fields.visibility, problems)}
  ${own !== null && renderSummary(fields.changeSummary, problems)}
  <p class="actions">
    <button type="submit" name="action" value="check">Check</button>
    <button type="submit" name="action" value="save" class="primary">Save draft</button>
    <button type="submit" name="action" value="publish">Save and publish…</button>
  </p>
</form>
${after}`,
  };
}

/** Renders the API's error message and the problems in the document with their lines. */
function renderSaveProblems(problems: FormProblems, yaml: string): Content {
  const found = documentProblems(problems);
  return html`<div class="problem" role="alert" tabindex="-1" autofocus id="problems"><p>${problems.message}</p></div>
${found.length > 0 && renderProblems(found, yaml)}`;
}

/** Returns the problems that the API found in the document. */
export function documentProblems({ details }: FormProblems): DocumentProblem[] {
  const errors = details["errors"];
  return Array.isArray(errors) ? (errors as DocumentProblem[]) : [];
}

function renderConflict({ yaml, visibility }: StoredDraft, fields: EditFields): Html {
  return html`<section class="card stack" aria-labelledby="stored-title">
  <h2 id="stored-title">Saved text</h2>
  <p>This is the saved draft. Your text is in the form below, unchanged. Copy what you need from one to the other.
  Saving replaces the saved text with yours.</p>
  ${visibility !== fields.visibility && html`<p>The saved visibility is <b>${visibility}</b>. Saving sets it to <b>${fields.visibility}</b>.</p>`}
  <pre class="text-box" tabindex="0" role="group" aria-label="Saved text">${"\n"}${yaml}</pre>
</section>`;
}

function renderType(chosen: DefinitionType, problems: FormProblems | null): Html {
  const types = DEFINITION_TYPES.map((type) => [type, type] as const);
  return selectField({ name: "type", label: "Type", problems }, types, chosen);
}

/** Renders the text area of a document below the offer to restore unsaved text. */
export function yamlField(field: Pick<Field, "hint" | "problems">, yaml: string): Html {
  // Without autocomplete="off", browsers would restore old text next to a newer `expectedUpdatedAt`. Saving it would undo other
  // users' changes.
  const area = textField(
    { name: "yaml", label: "YAML", ...field },
    html`class="code" rows="24" wrap="off" spellcheck="false" autocapitalize="off" autocomplete="off" required`,
    yaml,
  );
  return html`${UNSAVED_OFFER}${area}`;
}

const VISIBILITY_TEXTS: Readonly<Record<string, string>> = {
  private: "private: members of the organization",
  unlisted: "unlisted: everyone who knows the name",
  public: "public: everyone, and listed",
};

/** Renders the select field for a version's visibility. */
export function renderVisibility(chosen: string, problems: FormProblems | null): Html {
  const options = DEFINITION_VISIBILITIES.map((word) => [word, VISIBILITY_TEXTS[word]] as const);
  return selectField({ name: "visibility", label: "Visibility once published", problems }, options, chosen);
}

function renderSummary(typed: string, problems: FormProblems | null): Html {
  return inputField(
    { name: "changeSummary", label: "Summary of the changes (optional)", problems },
    html`maxlength="2000" value="${typed}"`,
  );
}
