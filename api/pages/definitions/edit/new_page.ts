/** /definitions/new: a new definition. */
import { ApiError } from "../../../../shared/errors.ts";
import { mayWriteDefinitions } from "../../../../shared/policy.ts";
import { DEFINITION_TYPES } from "../../../../shared/vocabulary.ts";
import type { Report } from "../../../definitions/batch/schemas.ts";
import { notFound } from "../../../http/not_found.ts";
import { requireAllowed } from "../../../http/require_allowed.ts";
import { withQuery } from "../../addresses.ts";
import { attempt, type FormProblems } from "../../forms.ts";
import { type Html, html } from "../../html.ts";
import type { PageResult, SignedInPage } from "../../page.ts";
import { findOwnOrg, type PageOrg } from "../../page_session.ts";
import { checkDocument, createNewDraft, readEditFields, seeSaved } from "./edit_actions.ts";
import { EDITOR_HEAD, type EditFields, renderEditForm } from "./edit_form.ts";
import { templateOf } from "./templates.ts";

/** Shows a form with a small document to start from. */
export function showNew(page: SignedInPage): PageResult {
  const org = requireCurrentOrg(page);
  const type = DEFINITION_TYPES.find((word) => word === page.url.searchParams.get("type")) ?? "agent";
  const fields = {
    type,
    yaml: templateOf(type),
    visibility: "private",
    changeSummary: "",
    savedSummary: "",
    expectedUpdatedAt: "",
  };
  return renderNew(page, { org, fields });
}

/** Checks the document, or saves it as a draft. */
export async function submitNew(page: SignedInPage): Promise<PageResult> {
  const org = requireCurrentOrg(page);
  const fields = readEditFields(page);
  const isCheck = page.form.get("action") === "check";
  const organization = org.slug;
  const outcome = await attempt(async () => {
    const report = await checkDocument(page, { organization, name: null, fields, own: null });
    // A batch, which saves, takes the type from the document.
    return isCheck || !report.valid ? { report } : createNewDraft(page, { organization, fields });
  });
  if (!outcome.ok) return renderNew(page, { org, fields, problems: outcome.problems, isCheck });
  if ("report" in outcome.value)
    return renderNew(page, { org, fields, report: outcome.value.report, isCheck });
  return seeSaved(page, outcome.value);
}

function requireCurrentOrg(page: SignedInPage): PageOrg {
  const { org } = page.session;
  if (!org) throw new ApiError("ORG_ACCESS_DENIED");
  return requirePublisher(page, org.slug);
}

/**
 * Returns the organization of a definition if the visitor may change definitions there. Throws what the API throws for a
 * role that is too low. For an organization of others, it throws the error of an unknown address, before it is known
 * whether the definition exists.
 */
export function requirePublisher(page: SignedInPage, organization: string): PageOrg {
  const org = findOwnOrg(page, organization);
  if (!org) throw notFound("route");
  requireAllowed(mayWriteDefinitions(org.role), org);
  return org;
}

interface NewPage {
  org: PageOrg;
  fields: EditFields;
  report?: Report | null;
  problems?: FormProblems | null;
  isCheck?: boolean;
}

function renderNew(page: SignedInPage, options: NewPage): PageResult {
  const { org, fields, report = null, problems = null, isCheck = true } = options;
  const status = problems?.status ?? (isCheck ? 200 : 422);
  const main = renderEditForm({
    title: "New definition",
    lead: html`Saves a draft in ${org.name}. Only members can see it until it is published.`,
    fields,
    session: page.session,
    choosesType: true,
    own: null,
    report,
    problems,
    stored: null,
    after: renderTemplates(),
  });
  return { title: "New definition", section: "definitions", head: EDITOR_HEAD, status, main };
}

function renderTemplates(): Html {
  return html`<p>Start again from a template: ${DEFINITION_TYPES.map(
    (type) => html`<a href="${withQuery("/definitions/new", { type })}">${type}</a> `,
  )}</p>`;
}
