/** Addresses of the pages of definitions, and of the same definitions in the API. */

/** What an address is made of. */
export interface LinkedDefinition {
  /** The organization's slug. */
  organization: string;
  type: string;
  name: string;
  /** Null or left out for the latest published version. */
  version?: string | null;
}

/** Tabs by the last part of their addresses. */
export type DefinitionTab =
  | "yaml"
  | "versions"
  | "compare"
  | "dependencies"
  | "dependents"
  | "forks"
  | "usage";

/** Returns the path of a definition's page, or of one below it. */
export function definitionPath(
  definition: LinkedDefinition,
  below?: DefinitionTab | "edit" | "fork",
): string {
  return `/definitions${pathOf(definition)}${below ? `/${below}` : ""}`;
}

/** Returns the path of a definition below /api/v1. */
export function definitionApiPath(definition: LinkedDefinition, below = ""): string {
  return `/definitions${pathOf(definition)}${below}`;
}

function pathOf({ organization, type, name, version = null }: LinkedDefinition): string {
  const end = version === null ? "" : `@${encodeURIComponent(version)}`;
  return `/${encodeURIComponent(type)}/@${encodeURIComponent(organization)}/${encodeURIComponent(name)}${end}`;
}

/** Returns the organization's slug of a namespace, `@organization/name`. */
export function organizationOf({ namespace }: { namespace: string }): string {
  return namespace.slice(1, namespace.indexOf("/"));
}
