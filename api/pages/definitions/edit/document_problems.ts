/** Renders the problems in a YAML text. Each problem has a link to its line and quotes the surrounding lines. */
import { shorten } from "../../../../shared/characters.ts";
import { OTHER_ORG_ADVICE } from "../../../../shared/error_texts.ts";
import type { DocumentError } from "../../../definitions/batch/schemas.ts";
import { PAGE_ORG_ADVICE } from "../../explain_error.ts";
import { type Content, type Html, html } from "../../html.ts";

/** An error or a warning. */
export type DocumentProblem = Pick<DocumentError, "message" | "path" | "line" | "column">;

/** The id of the text area, to which the problems link. */
const YAML_FIELD_ID = "field-yaml";

const LINES_AROUND = 2;
/** Longer lines are truncated, because a whole document can be one line. */
const MAX_LINE_LENGTH = 160;

/** Renders problems as a list. Links lead to the line in the text area or, without JavaScript, to the text area. */
export function renderProblems(problems: readonly DocumentProblem[], yaml: string): Html {
  const lines = yaml.split("\n");
  return html`<ol class="stack">${problems.map(
    (problem) => html`
  <li>${renderPlace(problem)} ${problem.message.replace(OTHER_ORG_ADVICE, PAGE_ORG_ADVICE)}${renderQuote(problem, lines)}</li>`,
  )}
</ol>`;
}

function renderPlace({ path, line, column }: DocumentProblem): Content {
  const place = path !== undefined && path !== "yaml" && html` <code>${path}</code>`;
  if (line === undefined) return place;
  const columnText = column === undefined ? "" : `, column ${column}`;
  return html`<a href="#${YAML_FIELD_ID}" data-line="${line}" data-column="${column ?? 1}">Line ${line}${columnText}</a>${place}`;
}

function renderQuote({ line }: DocumentProblem, lines: readonly string[]): Content {
  if (line === undefined || line < 1 || line > lines.length) return null;
  const first = Math.max(1, line - LINES_AROUND);
  const last = Math.min(lines.length, line + LINES_AROUND);
  const width = String(last).length;
  const quoted = lines.slice(first - 1, last).map((text, index) => {
    const number = first + index;
    const row = `${String(number).padStart(width)}  ${shorten(text, MAX_LINE_LENGTH)}\n`;
    return number === line ? html`<mark>${row}</mark>` : row;
  });
  return html`<pre class="quoted-lines" tabindex="0" role="group" aria-label="Lines ${first} to ${last}">${quoted}</pre>`;
}
