/** Pages for reading definitions. */
import { Elysia } from "elysia";
import type { Config } from "../../../shared/process/config.ts";
import { readerWork } from "../../definitions/document.ts";
import type { Documents, DocumentWork } from "../../documents/documents.ts";
import { access } from "../../http/access.ts";
import { PAGE_ROUTE, type Page, type PageResult, type Pages } from "../page.ts";
import { redirectToDefinition } from "./bare_address.ts";
import { downloadPatch, showCompare } from "./compare_page.ts";
import { showDependencies } from "./dependencies_page.ts";
import { showDependents } from "./dependents_page.ts";
import { showForks } from "./forks_page.ts";
import { showList } from "./list_page.ts";
import { showOverview } from "./overview_page.ts";
import { type PageAddress, parsePageAddress } from "./page_address.ts";
import { showUsage } from "./usage_page.ts";
import { showVersions } from "./versions_page.ts";
import { showYaml } from "./yaml_page.ts";

export interface DefinitionPageDeps {
  documents: Documents;
  config: Pick<Config, "publicUrl">;
}

/** A page about one definition. */
type DefinitionView = (page: Page, address: PageAddress, work: DocumentWork) => Promise<PageResult>;

/**
 * Serves `/definitions`, and the pages of one definition. The router wants one name per place of a parameter, so `:org` is a
 * name or an id where nothing follows.
 */
export function definitionPageRoutes(pages: Pages, { documents, config }: DefinitionPageDeps) {
  interface DefinitionRequest {
    request: Request;
    params: { type: string; org: string; name: string };
  }
  const show =
    (view: DefinitionView) =>
    ({ request, params }: DefinitionRequest) =>
      pages.show(request, (page) => view(page, parsePageAddress(params), readerWork(documents, request)));
  const overview = show((page, address, work) => showOverview(page, address, { ...config, work }));

  return new Elysia({ prefix: "/definitions" })
    .use(access)
    .get("/", ({ request }) => pages.show(request, showList), PAGE_ROUTE)
    .get(
      "/:type/:org",
      ({ request, params }) =>
        pages.show(request, (page) => redirectToDefinition(page, { type: params.type, name: params.org })),
      PAGE_ROUTE,
    )
    .get("/:type/:org/:name", overview, PAGE_ROUTE)
    .get("/:type/:org/:name/yaml", show(showYaml), PAGE_ROUTE)
    .get("/:type/:org/:name/versions", show(showVersions), PAGE_ROUTE)
    .get("/:type/:org/:name/compare", show(showCompare), PAGE_ROUTE)
    .get("/:type/:org/:name/compare/patch", show(downloadPatch), PAGE_ROUTE)
    .get("/:type/:org/:name/dependencies", show(showDependencies), PAGE_ROUTE)
    .get("/:type/:org/:name/dependents", show(showDependents), PAGE_ROUTE)
    .get("/:type/:org/:name/forks", show(showForks), PAGE_ROUTE)
    .get("/:type/:org/:name/usage", show(showUsage), PAGE_ROUTE);
}
