/** Tasks on documents. They are pure functions, so any thread can run them and results can be cached. */
import { type DefinitionChanges, editDefinition, type QualifiedName } from "../../shared/definitions/edit.ts";
import { compareDocuments } from "./compare_documents.ts";
import { renderMarkdown } from "./markdown.ts";
import { normalizeDocument } from "./normal_form.ts";
import { readDocument } from "./read_document.ts";
import { highlightYaml } from "./yaml_highlight.ts";

const TASKS = {
  read: readDocument,
  edit: (options: { yaml: string; changes: DefinitionChanges; names?: readonly QualifiedName[] }) =>
    editDefinition(options.yaml, options.changes, options.names),
  compare: compareDocuments,
  normalize: normalizeDocument,
  render: renderText,
} as const;

/** Renders a text of a definition as HTML for a page. */
function renderText({ format, text }: { format: "markdown" | "yaml"; text: string }): string {
  return format === "markdown" ? renderMarkdown(text) : highlightYaml(text);
}

type Tasks = typeof TASKS;

/** A task with its arguments. */
export type DocumentTask = {
  [Name in keyof Tasks]: { name: Name; given: Parameters<Tasks[Name]>[0] };
}[keyof Tasks];

/** Runs a task. Returns JSON text, which is passed on without parsing. */
export function doTask({ name, given }: DocumentTask): string {
  // The type ties the arguments to the name, but TypeScript cannot follow that through a lookup.
  const perform = TASKS[name] as (given: DocumentTask["given"]) => unknown;
  return JSON.stringify(perform(given));
}
