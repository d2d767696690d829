/** The version of a definition that a list shows, and the draft beside it. */
import type { ListedDefinition } from "../../definitions/schemas.ts";
import { definitionPath, organizationOf } from "../addresses.ts";
import { type Content, html } from "../html.ts";

/** Returns the address of its page. A name without a version means the highest published one that is not quarantined. */
export function listedPath(
  definition: ListedDefinition,
  { isLatest = true }: { isLatest?: boolean } = {},
): string {
  const { type, name, version, status, quarantinedAt } = definition;
  const isMeant = isLatest && status === "published" && quarantinedAt === null;
  return definitionPath({
    organization: organizationOf(definition),
    type,
    name,
    version: isMeant ? null : version,
  });
}

/** Links to the draft of a definition that is shown with another version; nothing without one. */
export function renderDraftLink(definition: ListedDefinition): Content {
  const { type, name, status, draftVersion = null } = definition;
  if (draftVersion === null || status === "draft") return null;
  const path = definitionPath({
    organization: organizationOf(definition),
    type,
    name,
    version: draftVersion,
  });
  return html`<a href="${path}">draft ${draftVersion}</a>`;
}
