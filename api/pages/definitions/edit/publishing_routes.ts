/** Pages on which publishers create, edit, publish, deprecate, archive, delete and fork definitions. */
import { Elysia } from "elysia";
import { access, isPage } from "../../../http/access.ts";
import type { PageResult, Pages, SignedInPage } from "../../page.ts";
import { showEdit, submitEdit } from "./edit_page.ts";
import { showFork, submitFork } from "./fork_page.ts";
import type { DefinitionPageParams } from "./manage_target.ts";
import { showNew, submitNew } from "./new_page.ts";
import { showPublish, submitPublish } from "./publish_page.ts";
import { showStatusAction, submitStatusAction } from "./status_pages.ts";
import { showRetranslate, showUpgrade, submitRetranslate, submitUpgrade } from "./translation_pages.ts";

/** A YAML document of 150 KiB has three times as many bytes if each is percent-encoded; longer ones get the API's error. */
const ROUTE = { publicAccess: true, detail: isPage({ maxFormBytes: 1_048_576 }) } as const;

const PATH = "/definitions/:type/:org/:name";

type View = (page: SignedInPage, params: DefinitionPageParams) => PageResult | Promise<PageResult>;

/** The two halves of each page: GET shows the form, POST does what it says. */
const PAGES: Readonly<Record<string, { show: View; submit: View }>> = {
  edit: { show: showEdit, submit: submitEdit },
  publish: { show: showPublish, submit: submitPublish },
  deprecate: statusAction("deprecate"),
  archive: statusAction("archive"),
  delete: statusAction("delete"),
  retranslate: { show: showRetranslate, submit: submitRetranslate },
  upgrade: { show: showUpgrade, submit: submitUpgrade },
  fork: { show: showFork, submit: submitFork },
};

export function publishingRoutes(pages: Pages) {
  const routes = new Elysia()
    .use(access)
    .get("/definitions/new", ({ request }) => pages.showSignedIn(request, showNew), ROUTE)
    .post("/definitions/new", ({ request }) => pages.showSignedIn(request, submitNew), ROUTE);
  for (const [name, { show, submit }] of Object.entries(PAGES)) {
    routes.get(
      `${PATH}/${name}`,
      ({ request, params }) =>
        pages.showSignedIn(request, (page) => show(page, params as DefinitionPageParams)),
      ROUTE,
    );
    routes.post(
      `${PATH}/${name}`,
      ({ request, params }) =>
        pages.showSignedIn(request, (page) => submit(page, params as DefinitionPageParams)),
      ROUTE,
    );
  }
  return routes;
}

function statusAction(action: Parameters<typeof showStatusAction>[2]): { show: View; submit: View } {
  return {
    show: (page, params) => showStatusAction(page, params, action),
    submit: (page, params) => submitStatusAction(page, params, action),
  };
}
