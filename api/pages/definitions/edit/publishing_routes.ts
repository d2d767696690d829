/** Pages on which publishers create, edit, publish, deprecate, archive, delete and fork definitions. */
import type { PageRoute, PageRouteOptions } from "../../page.ts";
import { showEdit, submitEdit } from "./edit_page.ts";
import { showFork, submitFork } from "./fork_page.ts";
import { showNew, submitNew } from "./new_page.ts";
import { showPublish, submitPublish } from "./publish_page.ts";
import { showStatusAction, submitStatusAction } from "./status_pages.ts";
import { showRetranslate, showUpgrade, submitRetranslate, submitUpgrade } from "./translation_pages.ts";

/** A YAML document of 150 KiB has three times as many bytes if each is percent-encoded; longer ones get the API's error. */
const DOCUMENT: PageRouteOptions = { maxFormBytes: 1_048_576 };

/** Of each page, GET shows the form and POST does what it says. */
export const PUBLISHING_PAGES: readonly PageRoute[] = [
  ["GET", "/definitions/new", "signedIn", showNew],
  ["POST", "/definitions/new", "signedIn", submitNew, DOCUMENT],
  ["GET", "/definitions/:type/:org/:name/edit", "signedIn", showEdit],
  ["POST", "/definitions/:type/:org/:name/edit", "signedIn", submitEdit, DOCUMENT],
  ["GET", "/definitions/:type/:org/:name/retranslate", "signedIn", showRetranslate],
  ["POST", "/definitions/:type/:org/:name/retranslate", "signedIn", submitRetranslate],
  ["GET", "/definitions/:type/:org/:name/upgrade", "signedIn", showUpgrade],
  ["POST", "/definitions/:type/:org/:name/upgrade", "signedIn", submitUpgrade, DOCUMENT],
  ["GET", "/definitions/:type/:org/:name/fork", "signedIn", showFork],
  ["POST", "/definitions/:type/:org/:name/fork", "signedIn", submitFork],
  ["GET", "/definitions/:type/:org/:name/publish", "signedIn", showPublish],
  ["POST", "/definitions/:type/:org/:name/publish", "signedIn", submitPublish],
  ["GET", "/definitions/:type/:org/:name/deprecate", "signedIn", showStatusAction("deprecate")],
  ["POST", "/definitions/:type/:org/:name/deprecate", "signedIn", submitStatusAction("deprecate")],
  ["GET", "/definitions/:type/:org/:name/archive", "signedIn", showStatusAction("archive")],
  ["POST", "/definitions/:type/:org/:name/archive", "signedIn", submitStatusAction("archive")],
  ["GET", "/definitions/:type/:org/:name/delete", "signedIn", showStatusAction("delete")],
  ["POST", "/definitions/:type/:org/:name/delete", "signedIn", submitStatusAction("delete")],
];
