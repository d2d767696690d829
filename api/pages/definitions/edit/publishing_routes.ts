/** Pages on which publishers create, edit, publish, deprecate, archive, delete and fork definitions. */
import { notFound } from "../../../http/require_visible.ts";
import type { FormViews, PageResult, PageRoute, PageRouteOptions, SignedInPage } from "../../page.ts";
import { about, type PageAddress, type VersionPageAddress } from "../page_address.ts";
import { showEdit, submitEdit } from "./edit_page.ts";
import { showFork, submitFork } from "./fork_page.ts";
import { requirePublisher, showNew, submitNew } from "./new_page.ts";
import { showPublish, submitPublish } from "./publish_page.ts";
import { statusAction } from "./status_pages.ts";
import { showRetranslate, showUpgrade, submitRetranslate, submitUpgrade } from "./translation_pages.ts";

/** Percent-encoding can triple a YAML document of 150 KiB. The limit is higher, so that the API itself rejects longer documents. */
const DOCUMENT: PageRouteOptions = { maxFormBytes: 1_048_576 };

export const PUBLISHING_PAGES: readonly PageRoute[] = [
  ["FORM", "/definitions/new", "signedIn", [showNew, submitNew], DOCUMENT],
  ["FORM", "/definitions/:type/:org/:name/edit", "signedIn", line([showEdit, submitEdit]), DOCUMENT],
  [
    "FORM",
    "/definitions/:type/:org/:name/retranslate",
    "signedIn",
    version([showRetranslate, submitRetranslate]),
  ],
  [
    "FORM",
    "/definitions/:type/:org/:name/upgrade",
    "signedIn",
    version([showUpgrade, submitUpgrade]),
    DOCUMENT,
  ],
  ["FORM", "/definitions/:type/:org/:name/fork", "signedIn", [about(showFork), about(submitFork)]],
  ["FORM", "/definitions/:type/:org/:name/publish", "signedIn", version([showPublish, submitPublish])],
  ["FORM", "/definitions/:type/:org/:name/deprecate", "signedIn", version(statusAction("deprecate"))],
  ["FORM", "/definitions/:type/:org/:name/archive", "signedIn", version(statusAction("archive"))],
  ["FORM", "/definitions/:type/:org/:name/delete", "signedIn", version(statusAction("delete"))],
];

/** The GET view and the POST view of a definition's page. */
type Views<Address> = readonly [ViewOf<Address>, ViewOf<Address>];
type ViewOf<Address> = (page: SignedInPage, address: Address) => Promise<PageResult>;

/** Restricts a page to publishers of the definition's organization. */
function line([show, submit]: Views<PageAddress>): FormViews<SignedInPage> {
  const forPublishers = (view: ViewOf<PageAddress>) =>
    about<SignedInPage>(async (page, address) => {
      requirePublisher(page, address.organization);
      return view(page, address);
    });
  return [forPublishers(show), forPublishers(submit)];
}

/** Like `line`, for addresses with a version. */
function version([show, submit]: Views<VersionPageAddress>): FormViews<SignedInPage> {
  const ofVersion =
    (view: ViewOf<VersionPageAddress>): ViewOf<PageAddress> =>
    (page, { version: named, ...others }) => {
      if (named === null) throw notFound("route");
      return view(page, { ...others, version: named });
    };
  return line([ofVersion(show), ofVersion(submit)]);
}
