/** Addresses of the pages about models, and the API's paths of the same things. */

/** Returns the path of a model below `/models`, in the API and on pages. Ids may contain any character. */
export function modelPath({ provider, modelId }: { provider: string; modelId: string }): string {
  return `/models/${[provider, ...modelId.split("/")].map(encodeURIComponent).join("/")}`;
}

/** Returns a model as query parameters name it. */
export function modelName({ provider, modelId }: { provider: string; modelId: string }): string {
  return `${provider}/${modelId}`;
}

/** Returns `path` with a query, without empty values. `org` is the organization that the page's address names, if any. */
export function withQuery(
  path: string,
  parameters: Iterable<readonly [string, string]>,
  org: string | null,
): string {
  const given = [...parameters].filter(([name, value]) => value !== "" && name !== "org");
  if (org !== null) given.push(["org", org]);
  if (given.length === 0) return path;
  const query = new URLSearchParams();
  for (const [name, value] of given) query.append(name, value);
  return `${path}?${query}`;
}

/** Copies a query with other values; an empty value removes the parameter. */
export function changed(query: URLSearchParams, changes: Readonly<Record<string, string>>): URLSearchParams {
  const copy = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) copy.set(name, value);
  return copy;
}
