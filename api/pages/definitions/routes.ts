/** Pages for reading definitions. */
import { ApiError } from "../../../shared/errors.ts";
import { parseReadAddress } from "../../definitions/address.ts";
import { getDefinition } from "../../definitions/read.ts";
import { notFound } from "../../http/require_visible.ts";
import { definitionPath, organizationOf } from "../addresses.ts";
import { type Page, type PageRoute, seeOther } from "../page.ts";
import { downloadPatch, showCompare } from "./compare_page.ts";
import { showDependencies, showDependents } from "./dependencies_page.ts";
import { showForks } from "./forks_page.ts";
import { showList } from "./list_page.ts";
import { showOverview, showYaml } from "./overview_page.ts";
import { about, requireType } from "./page_address.ts";
import { showUsage } from "./usage_page.ts";
import { showVersions } from "./versions_page.ts";

/** The router allows one parameter name per path segment, so `:org` is a name or an id in the last segment. */
export const DEFINITION_PAGES: readonly PageRoute[] = [
  ["GET", "/definitions", "all", showList],
  ["GET", "/definitions/:type/:org", "all", redirectToDefinition],
  ["GET", "/definitions/:type/:org/:name", "all", about(showOverview)],
  ["GET", "/definitions/:type/:org/:name/yaml", "all", about(showYaml)],
  ["GET", "/definitions/:type/:org/:name/versions", "all", about(showVersions)],
  ["GET", "/definitions/:type/:org/:name/compare", "all", about(showCompare)],
  ["GET", "/definitions/:type/:org/:name/compare/patch", "all", about(downloadPatch)],
  ["GET", "/definitions/:type/:org/:name/dependencies", "all", about(showDependencies)],
  ["GET", "/definitions/:type/:org/:name/dependents", "all", about(showDependents)],
  ["GET", "/definitions/:type/:org/:name/forks", "all", about(showForks)],
  ["GET", "/definitions/:type/:org/:name/usage", "all", about(showUsage)],
];

/** Redirects to the definition that the visitor's name or id identifies. Throws NOT_FOUND. */
async function redirectToDefinition(page: Page, options: { type: string; org: string }): Promise<Response> {
  const type = requireType(options.type);
  const namesVersion = checkName({ type, name: options.org });
  const { data } = await page.call(getDefinition, {
    params: { type, name: options.org },
    query: { includeYaml: false, includeRuntime: false },
  });
  const { name, version } = data;
  const organization = organizationOf(data);
  return seeOther(definitionPath({ type, organization, name, version: namesVersion ? version : null }));
}

/** Returns whether the text is an id or a name with a version. Throws NOT_FOUND for a text that is neither an id nor a name. */
function checkName(options: Parameters<typeof parseReadAddress>[0]): boolean {
  try {
    const address = parseReadAddress(options);
    return "id" in address || address.version !== null;
  } catch (error) {
    if (error instanceof ApiError) throw notFound("route");
    throw error;
  }
}
