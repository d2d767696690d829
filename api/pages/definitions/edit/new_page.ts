/** /definitions/new: creates a definition. */
import { ApiError } from "../../../../shared/errors.ts";
import { mayWriteDefinitions } from "../../../../shared/policy.ts";
import { DEFINITION_TYPES } from "../../../../shared/vocabulary.ts";
import type { Report } from "../../../definitions/batch/schemas.ts";
import { requireAllowed } from "../../../http/require_allowed.ts";
import { notFound } from "../../../http/require_visible.ts";
import { withQuery } from "../../addresses.ts";
import { nullIf } from "../../api_client.ts";
import { type Html, html } from "../../html.ts";
import type { PageContent } from "../../layout.ts";
import type { PageResult, SignedInPage } from "../../page.ts";
import { findOwnOrg, type PageOrg } from "../../page_session.ts";
import { OWN_DRAFT_CODES, withoutOwnDraft } from "./check_report.ts";
import { checkDocument, createNewDraft, readEditFields, seeSaved } from "./edit_actions.ts";
import { type EditFields, editPage, NO_EDIT } from "./edit_form.ts";
import { templateOf } from "./templates.ts";

/** Shows a form with a template document. */
export function showNew(page: SignedInPage): PageResult {
  const type = DEFINITION_TYPES.find((word) => word === page.url.searchParams.get("type")) ?? "agent";
  const start = { ...NO_EDIT, type, yaml: templateOf(type), visibility: "private" };
  const org = requirePublisher(page, requireCurrentOrg(page).slug);
  return renderNew(page, org, { fields: page.problems ? readEditFields(page) : start });
}

/** Checks the document, or saves it as a draft. */
export async function submitNew(page: SignedInPage): Promise<PageResult> {
  const org = requirePublisher(page, requireCurrentOrg(page).slug);
  const fields = readEditFields(page);
  const organization = org.slug;
  const report = await checkDocument(page, { organization, name: null, fields, own: null });
  const isCheck = page.form.get("action") === "check";
  if (!isCheck && withoutOwnDraft(report, report.version.given).valid) {
    // Saving uses a batch, which takes the type from the document.
    const saving = createNewDraft(page, { organization, fields });
    // If the version exists, an earlier submission of the same form may have created it.
    const saved = await (report.valid ? saving : nullIf(OWN_DRAFT_CODES, saving));
    if (saved) return seeSaved(page, saved);
  }
  return { ...renderNew(page, org, { fields, report }), status: isCheck ? 200 : 422 };
}

export function requireCurrentOrg({ session: { org } }: SignedInPage): PageOrg {
  if (!org) throw new ApiError("ORG_ACCESS_DENIED");
  return org;
}

/**
 * Returns an organization if the visitor may change its definitions. Throws the API's error if the visitor's role is too low.
 * If the visitor is not a member, throws the error of an unknown address without looking up the definition.
 */
export function requirePublisher(page: SignedInPage, organization: string): PageOrg {
  const org = findOwnOrg(page, organization);
  if (!org) throw notFound("route");
  requireAllowed(mayWriteDefinitions(org.role), org);
  return org;
}

function renderNew(
  page: SignedInPage,
  org: PageOrg,
  { fields, report = null }: { fields: EditFields; report?: Report | null },
): PageContent {
  return editPage(page, {
    title: "New definition",
    lead: html`Saves a draft in ${org.name}. Only members can see it until it is published.`,
    fields,
    choosesType: true,
    own: null,
    report,
    after: renderTemplates(),
  });
}

function renderTemplates(): Html {
  return html`<p>Start again from a template: ${DEFINITION_TYPES.map(
    (type) => html`<a href="${withQuery("/definitions/new", { type })}">${type}</a> `,
  )}</p>`;
}
