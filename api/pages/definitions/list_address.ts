/** Addresses of the list of definitions with other filters. */

/** Returns the list's address with parameters replaced, or removed where they are null. Other filters stay. */
export function listAddress(url: URL, changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of url.searchParams)
    if (value !== "" && !(name in changes)) query.append(name, value);
  for (const [name, value] of Object.entries(changes)) if (value !== null) query.set(name, value);
  return query.size === 0 ? url.pathname : `${url.pathname}?${query}`;
}
