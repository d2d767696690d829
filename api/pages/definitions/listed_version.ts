/** The version of a definition that a list shows, and the draft next to it. */
import type { ListedDefinition } from "../../definitions/schemas.ts";
import { definitionPath, organizationOf } from "../addresses.ts";
import { type Content, html } from "../html.ts";

/** Returns the address of its page. A name without a version means the highest published one that is not quarantined. */
export function listedPath(definition: ListedDefinition, { isLatest = true } = {}): string {
  const { version, status, quarantinedAt } = definition;
  const isMeant = isLatest && status === "published" && quarantinedAt === null;
  return pathOfVersion(definition, isMeant ? null : version);
}

/** Links to the draft of a definition that is shown with another version; nothing without one. */
export function renderDraftLink(definition: ListedDefinition): Content {
  const { status, draftVersion = null } = definition;
  if (draftVersion === null || status === "draft") return null;
  return html`<a href="${pathOfVersion(definition, draftVersion)}">draft ${draftVersion}</a>`;
}

function pathOfVersion(definition: ListedDefinition, version: string | null): string {
  return definitionPath({ ...definition, organization: organizationOf(definition), version });
}
