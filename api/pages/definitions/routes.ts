/** Pages for reading definitions. */
import type { Page, PageResult, PageRoute } from "../page.ts";
import { redirectToDefinition } from "./bare_address.ts";
import { downloadPatch, showCompare } from "./compare_page.ts";
import { showDependencies } from "./dependencies_page.ts";
import { showDependents } from "./dependents_page.ts";
import { showForks } from "./forks_page.ts";
import { showList } from "./list_page.ts";
import { showOverview } from "./overview_page.ts";
import { type DefinitionPageParams, type PageAddress, parsePageAddress } from "./page_address.ts";
import { showUsage } from "./usage_page.ts";
import { showVersions } from "./versions_page.ts";
import { showYaml } from "./yaml_page.ts";

/** The router wants one name per place of a parameter, so `:org` is a name or an id where nothing follows. */
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

/** A page about one definition. */
function about(view: (page: Page, address: PageAddress) => Promise<PageResult>) {
  return (page: Page, params: DefinitionPageParams) => view(page, parsePageAddress(params));
}
