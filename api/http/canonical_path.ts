/** The path of a request as routes are matched: a trailing slash is ignored, and `@` and `%40` are the same. */

const ORG_AND_NAME = /^(\/api\/v1\/definitions\/[^/]+\/@(?:(?!%2f)[^/])+)\/([^/]+)/i;

/**
 * Returns the path that routes are matched by: without a trailing slash, `@` for `%40`, and `@org%2Fname` for
 * `@org/name`, so that it is one parameter of every route of definitions.
 */
export function canonicalPath(path: string): string {
  return withoutTrailingSlash(path.replaceAll("%40", "@")).replace(ORG_AND_NAME, "$1%2F$2");
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
