/** Builds page addresses. The paths of organizations, definitions and models are the same as below /api/v1. */

type QueryValues = Readonly<Record<string, string | number | null>>;

/** Appends a query to a path. Empty values are omitted. */
export function withQuery(path: string, query: QueryValues | URLSearchParams): string {
  const pairs: Iterable<[string, string | number | null]> =
    query instanceof URLSearchParams ? query : Object.entries(query);
  const kept = [...pairs].flatMap(([name, value]): [string, string][] =>
    value === null || value === "" ? [] : [[name, String(value)]],
  );
  return kept.length === 0 ? path : `${path}?${new URLSearchParams(kept)}`;
}

/** Returns a copy of a query with some parameters changed. A null value removes its parameter. */
export function changed(query: URLSearchParams, changes: QueryValues): URLSearchParams {
  const copy = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) copy.delete(name);
    else copy.set(name, String(value));
  }
  return copy;
}

/**
 * Returns the parameters that a page supports, without the empty ones that forms send. Links from other sites may have other
 * parameters, such as `utm_source`, which the API would reject.
 */
export function knownQuery(url: URL, names: Readonly<Record<string, unknown>>): URLSearchParams {
  return new URLSearchParams(
    [...url.searchParams].filter(([name, value]) => Object.hasOwn(names, name) && value !== ""),
  );
}

/** Returns a path such as `/a/b`, with each part encoded. */
function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join("");
}

export const SIGN_IN_PATH = "/dashboard/sign-in";

/** The maximum length. Proxies accept about 4 KB of headers in a redirect, and each `%` in an address is encoded again. */
const NEXT_MAX_LENGTH = 1000;

/** Returns the path of the sign-in page. After sign-in, the user returns to `address` (path and query), unless it is too long. */
export function signInPath(address: string | null): string {
  const isTooLong = address !== null && address.length > NEXT_MAX_LENGTH;
  return withQuery(SIGN_IN_PATH, { next: isTooLong ? null : address });
}

export const EXPORTS_PATH = "/dashboard/exports";

/** Returns the address of an export's row. `as` is the reason for linking to the row. */
export function exportPath(id: string, as: string): string {
  return `${withQuery(EXPORTS_PATH, { job: id, as })}#job-${id}`;
}

export function projectPath(id: string): string {
  return `${EXPORTS_PATH}/projects${pathOf(id)}`;
}

/** Returns the address of an organization's page, or of a page below it. */
export function orgPath(slug: string, ...below: readonly string[]): string {
  return `/orgs${pathOf(slug, ...below)}`;
}

export interface LinkedDefinition {
  type: string;
  /** The organization's slug. */
  organization: string;
  name: string;
  /** The version. Null or undefined means the latest published version. */
  version?: string | null;
}

/** Returns the address of a definition's page, or of a page below it. */
export function definitionPath(
  { type, organization, name, version = null }: LinkedDefinition,
  ...below: readonly string[]
): string {
  const parts = `/definitions${pathOf(type)}/@${encodeURIComponent(organization)}${pathOf(name)}`;
  return `${parts}${version === null ? "" : `@${encodeURIComponent(version)}`}${pathOf(...below)}`;
}

/** Returns the organization's slug from a namespace, `@organization/name`. */
export function organizationOf({ namespace }: { namespace: string }): string {
  return namespace.slice(1, namespace.indexOf("/"));
}

/** Returns the address of a model's page. The model id may contain any character, including slashes. */
export function modelPath({ provider, modelId }: { provider: string; modelId: string }): string {
  return `/models${pathOf(provider, ...modelId.split("/"))}`;
}

/** Returns the address of the page that compares these models. */
export function comparisonPath(names: readonly string[]): string {
  const pairs = names.map((name): [string, string] => ["model", name]);
  return withQuery("/models/compare", new URLSearchParams(pairs));
}
