/** The query of a page whose parameters are those of the API. */

/**
 * Returns the address with the named parameters and `org` only. Links from elsewhere have others, such as `utm_source`, which
 * the API would refuse.
 */
export function withKnownQuery(url: URL, names: Readonly<Record<string, unknown>>): URL {
  const known = new URL(url.pathname, url);
  for (const [name, value] of url.searchParams) {
    if (name === "org" || Object.hasOwn(names, name)) known.searchParams.append(name, value);
  }
  return known;
}
