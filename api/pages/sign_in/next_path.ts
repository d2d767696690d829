/** The page to open after signing in. */
import { EXPORTS_PATH } from "../addresses.ts";

/** A placeholder for our origin, which does not affect the path. */
const ORIGIN = "http://site.invalid";

/**
 * Returns the path in `?next=` if it is a page of this site; otherwise, the exports page. Parses the address as browsers do, so
 * that no spelling leads to another site.
 */
export function nextPath(value: string | null): string {
  // Addresses with a host are rejected, because pages write only paths.
  const url = value?.startsWith("/") ? URL.parse(value, ORIGIN) : null;
  if (!url || url.origin !== ORIGIN || url.pathname.startsWith("//")) return EXPORTS_PATH;
  if (/^\/(api\/|dashboard\/sign-)/.test(url.pathname)) return EXPORTS_PATH;
  return url.pathname + url.search + url.hash;
}
