/** Links to what publishers can do with a version, by its status. */
import { allowedTransitions, allowsOperation } from "../../../../shared/definitions/lifecycle.ts";
import type { DefinitionStatus } from "../../../../shared/vocabulary.ts";
import { type Html, html } from "../../html.ts";
import { pathOf, type VersionTarget } from "./manage_target.ts";

export interface ManagedVersion {
  target: VersionTarget;
  status: DefinitionStatus;
  /** Whether the version has Markdown. */
  isRendered: boolean;
}

interface Link {
  page: string;
  label: string;
}

/** Returns the links of a version, each to a page that says what it will do. */
export function manageLinks({ target, status, isRendered }: ManagedVersion): Html[] {
  return listLinks(status, isRendered).map(
    ({ page, label }, index) =>
      html`<a class="button${index === 0 && " primary"}" href="/definitions${pathOf(target)}/${page}?org=${target.orgSlug}">${label}</a>
`,
  );
}

function listLinks(status: DefinitionStatus, isRendered: boolean): Link[] {
  const moves = allowedTransitions(status);
  const links: (Link | false)[] = [
    moves.includes("published") && { page: "publish", label: "Publish…" },
    { page: "edit", label: allowsOperation(status, "update") ? "Edit draft" : "New version" },
    moves.includes("deprecated") && { page: "deprecate", label: "Deprecate…" },
    moves.includes("archived") && { page: "archive", label: "Archive…" },
    allowsOperation(status, "retranslate") && { page: "retranslate", label: "Render again…" },
    !isRendered && { page: "upgrade", label: "Upgrade…" },
    allowsOperation(status, "delete") && { page: "delete", label: "Delete…" },
  ];
  return links.filter((link) => link !== false);
}
