/** The page to open after signing in. */
import { EXPORTS_PATH } from "../addresses.ts";

/** Stands for our origin, which the path never depends on. */
const ORIGIN = "http://site.invalid";

/**
 * Returns the path in `?next=` if it is a page of this site, else the exports page. Checks the parsed address, as
 * browsers read it, so that no spelling leads to another site.
 */
export function nextPath(value: string | null): string {
  // An address with a host could only be ours or hostile: pages write paths.
  const url = value?.startsWith("/") ? URL.parse(value, ORIGIN) : null;
  if (!url || url.origin !== ORIGIN || url.pathname.startsWith("//")) return EXPORTS_PATH;
  if (/^\/(api\/|dashboard\/sign-)/.test(url.pathname)) return EXPORTS_PATH;
  return url.pathname + url.search + url.hash;
}
