/** Links to what publishers can do with a version beside editing it, by its status. */
import { allowedTransitions, allowsOperation } from "../../../../shared/definitions/lifecycle.ts";
import type { DefinitionStatus } from "../../../../shared/vocabulary.ts";
import { definitionPath } from "../../addresses.ts";
import { type Html, html } from "../../html.ts";
import type { VersionPageAddress } from "../page_address.ts";

export interface ManagedVersion {
  target: VersionPageAddress;
  status: DefinitionStatus;
  /** Whether the version has Markdown. */
  isRendered: boolean;
}

interface Link {
  page: string;
  label: string;
}

/** Returns the links of a version, each to a page that says what it will do. The form above them saves and publishes. */
export function manageLinks({ target, status, isRendered }: ManagedVersion): Html[] {
  return listLinks(status, isRendered).map(
    ({ page, label }) =>
      html`<a class="button" href="${definitionPath(target, page)}">${label}</a>
`,
  );
}

function listLinks(status: DefinitionStatus, isRendered: boolean): Link[] {
  const moves = allowedTransitions(status);
  const links: (Link | false)[] = [
    moves.includes("deprecated") && { page: "deprecate", label: "Deprecate…" },
    moves.includes("archived") && { page: "archive", label: "Archive…" },
    allowsOperation(status, "retranslate") && { page: "retranslate", label: "Render Markdown again…" },
    !isRendered && { page: "upgrade", label: "Upgrade…" },
    allowsOperation(status, "delete") && { page: "delete", label: "Delete…" },
  ];
  return links.filter((link) => link !== false);
}
