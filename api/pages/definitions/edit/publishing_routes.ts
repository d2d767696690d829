/** Pages on which publishers create, edit, publish, deprecate, archive, delete and fork definitions. */
import { notFound } from "../../../http/not_found.ts";
import type { PageResult, PageRoute, PageRouteOptions, SignedInPage } from "../../page.ts";
import { about, type PageAddress, type VersionPageAddress } from "../page_address.ts";
import { showEdit, submitEdit } from "./edit_page.ts";
import { showFork, submitFork } from "./fork_page.ts";
import { requirePublisher, showNew, submitNew } from "./new_page.ts";
import { showPublish, submitPublish } from "./publish_page.ts";
import { showStatusAction, submitStatusAction } from "./status_pages.ts";
import { showRetranslate, showUpgrade, submitRetranslate, submitUpgrade } from "./translation_pages.ts";

/** A YAML document of 150 KiB has three times as many bytes if each is percent-encoded; longer ones get the API's error. */
const DOCUMENT: PageRouteOptions = { maxFormBytes: 1_048_576 };

/** Of each page, GET shows the form and POST does what it says. */
export const PUBLISHING_PAGES: readonly PageRoute[] = [
  ["GET", "/definitions/new", "signedIn", showNew],
  ["POST", "/definitions/new", "signedIn", submitNew, DOCUMENT],
  ["GET", "/definitions/:type/:org/:name/edit", "signedIn", line(showEdit)],
  ["POST", "/definitions/:type/:org/:name/edit", "signedIn", line(submitEdit), DOCUMENT],
  ["GET", "/definitions/:type/:org/:name/retranslate", "signedIn", version(showRetranslate)],
  ["POST", "/definitions/:type/:org/:name/retranslate", "signedIn", version(submitRetranslate)],
  ["GET", "/definitions/:type/:org/:name/upgrade", "signedIn", version(showUpgrade)],
  ["POST", "/definitions/:type/:org/:name/upgrade", "signedIn", version(submitUpgrade), DOCUMENT],
  ["GET", "/definitions/:type/:org/:name/fork", "signedIn", about(showFork)],
  ["POST", "/definitions/:type/:org/:name/fork", "signedIn", about(submitFork)],
  ["GET", "/definitions/:type/:org/:name/publish", "signedIn", version(showPublish)],
  ["POST", "/definitions/:type/:org/:name/publish", "signedIn", version(submitPublish)],
  ["GET", "/definitions/:type/:org/:name/deprecate", "signedIn", version(showStatusAction("deprecate"))],
  ["POST", "/definitions/:type/:org/:name/deprecate", "signedIn", version(submitStatusAction("deprecate"))],
  ["GET", "/definitions/:type/:org/:name/archive", "signedIn", version(showStatusAction("archive"))],
  ["POST", "/definitions/:type/:org/:name/archive", "signedIn", version(submitStatusAction("archive"))],
  ["GET", "/definitions/:type/:org/:name/delete", "signedIn", version(showStatusAction("delete"))],
  ["POST", "/definitions/:type/:org/:name/delete", "signedIn", version(submitStatusAction("delete"))],
];

/** A page for publishers of the definition's organization. */
function line(view: (page: SignedInPage, address: PageAddress) => Promise<PageResult>) {
  return about<SignedInPage>(async (page, address) => {
    requirePublisher(page, address.organization);
    return view(page, address);
  });
}

/** As `line`, about one version. */
function version(view: (page: SignedInPage, address: VersionPageAddress) => Promise<PageResult>) {
  return line((page, { version: named, ...others }) => {
    if (named === null) throw notFound("route");
    return view(page, { ...others, version: named });
  });
}
