/** Addresses of the settings. */

/** Returns a path with the organization that the switcher has chosen, if it has. */
export function keepOrg(
  { searchParams }: URL,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const org = searchParams.get("org");
  const kept = new URLSearchParams({ ...query, ...(org === null ? {} : { org }) }).toString();
  return kept === "" ? path : `${path}?${kept}`;
}
