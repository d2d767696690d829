/** Links to the listed version of a definition and to the draft next to it. */
import type { ListedDefinition } from "../../definitions/schemas.ts";
import { definitionPath, organizationOf } from "../addresses.ts";
import { type Content, html } from "../html.ts";

/** Returns the address of a listed version. An address without a version means the highest published, unquarantined version. */
export function listedPath(definition: ListedDefinition, { isLatest = true } = {}): string {
  const { version, status, quarantinedAt } = definition;
  const isMeant = isLatest && status === "published" && quarantinedAt === null;
  return pathOfVersion(definition, isMeant ? null : version);
}

/** Renders a link to a definition's draft if the list shows another version; null if there is no draft. */
export function renderDraftLink(definition: ListedDefinition): Content {
  const { status, draftVersion = null } = definition;
  if (draftVersion === null || status === "draft") return null;
  return html`<a href="${pathOfVersion(definition, draftVersion)}">draft ${draftVersion}</a>`;
}

function pathOfVersion(definition: ListedDefinition, version: string | null): string {
  return definitionPath({ ...definition, organization: organizationOf(definition), version });
}
