/** The page to open after the sign-in. */

const HOME = "/dashboard/exports";
const SIGN_IN = "/dashboard/sign-in";

/**
 * Returns the page in `?next=` if it belongs to this site, else the exports page. Checks the parsed URL, so that no
 * spelling leads to another site.
 *
 * @param {{ origin: string, search: string }} location
 */
export function nextPath({ origin, search }) {
  const given = new URLSearchParams(search).get("next");
  if (given === null || !URL.canParse(given, origin)) return HOME;
  const url = new URL(given, origin);
  const isOurs = url.origin === origin && !url.pathname.startsWith("//");
  if (!isOurs || url.pathname.startsWith(SIGN_IN)) return HOME;
  return url.pathname + url.search + url.hash;
}

/**
 * The sign-in page that leads back here. With `hasEnded` it says that the session has ended.
 *
 * @param {{ pathname: string, search: string }} location
 * @param {{ hasEnded: boolean }} options
 */
export function signInPath({ pathname, search }, { hasEnded }) {
  return `${SIGN_IN}?next=${encodeURIComponent(pathname + search)}${hasEnded ? "&ended" : ""}`;
}
