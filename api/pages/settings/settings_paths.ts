/** Addresses of the settings. */

/** Returns a path with the organization that the switcher has chosen, if it has. */
export function keepOrg({ searchParams }: URL, path: string): string {
  const org = searchParams.get("org");
  return org === null ? path : `${path}?${new URLSearchParams({ org })}`;
}
