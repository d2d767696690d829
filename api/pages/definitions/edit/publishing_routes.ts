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

type View = (page: SignedInPage, params: DefinitionPageParams) => PageResult | Promise<PageResult>;

/** Of each page, GET shows the form and POST does what it says. */
export function publishingRoutes(pages: Pages) {
  return new Elysia().use(newRoutes(pages)).use(documentRoutes(pages)).use(actionRoutes(pages));
}

function newRoutes(pages: Pages) {
  return new Elysia({ prefix: "/definitions" })
    .use(access)
    .get("/new", ({ request }) => pages.showSignedIn(request, showNew), ROUTE)
    .post("/new", ({ request }) => pages.showSignedIn(request, submitNew), ROUTE);
}

/** Returns the handler of a page about a definition. */
function serve(pages: Pages, view: View) {
  return ({ request, params }: { request: Request; params: DefinitionPageParams }) =>
    pages.showSignedIn(request, (page) => view(page, params));
}

/** Pages that write a document. */
function documentRoutes(pages: Pages) {
  return new Elysia({ prefix: "/definitions/:type/:org/:name" })
    .use(access)
    .get("/edit", serve(pages, showEdit), ROUTE)
    .post("/edit", serve(pages, submitEdit), ROUTE)
    .get("/retranslate", serve(pages, showRetranslate), ROUTE)
    .post("/retranslate", serve(pages, submitRetranslate), ROUTE)
    .get("/upgrade", serve(pages, showUpgrade), ROUTE)
    .post("/upgrade", serve(pages, submitUpgrade), ROUTE)
    .get("/fork", serve(pages, showFork), ROUTE)
    .post("/fork", serve(pages, submitFork), ROUTE);
}

/** Pages that change the status of a version. */
function actionRoutes(pages: Pages) {
  return new Elysia({ prefix: "/definitions/:type/:org/:name" })
    .use(access)
    .get("/publish", serve(pages, showPublish), ROUTE)
    .post("/publish", serve(pages, submitPublish), ROUTE)
    .get(
      "/deprecate",
      serve(pages, (page, params) => showStatusAction(page, params, "deprecate")),
      ROUTE,
    )
    .post(
      "/deprecate",
      serve(pages, (page, params) => submitStatusAction(page, params, "deprecate")),
      ROUTE,
    )
    .get(
      "/archive",
      serve(pages, (page, params) => showStatusAction(page, params, "archive")),
      ROUTE,
    )
    .post(
      "/archive",
      serve(pages, (page, params) => submitStatusAction(page, params, "archive")),
      ROUTE,
    )
    .get(
      "/delete",
      serve(pages, (page, params) => showStatusAction(page, params, "delete")),
      ROUTE,
    )
    .post(
      "/delete",
      serve(pages, (page, params) => submitStatusAction(page, params, "delete")),
      ROUTE,
    );
}
