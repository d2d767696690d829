/** …/fork: copies a definition to the visitor's current organization. */
import type { ForkDenial } from "../../../../shared/vocabulary.ts";
import { forkDefinition } from "../../../definitions/forks/fork.ts";
import { getForkable } from "../../../definitions/forks/forks.ts";
import { definitionPath } from "../../addresses.ts";
import { idempotencyKeyOf, inputField } from "../../forms.ts";
import { type Html, html } from "../../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../../page.ts";
import { loadDefinition } from "../definition_frame.ts";
import { apiParams, type PageAddress } from "../page_address.ts";
import { actionPage, effectList } from "./action_page.ts";
import { renderVisibility } from "./edit_form.ts";
import { requireCurrentOrg } from "./new_page.ts";

export async function showFork(page: SignedInPage, target: PageAddress): Promise<PageResult> {
  const org = requireCurrentOrg(page);
  const [definition, forkable] = await Promise.all([
    loadDefinition(page, target),
    page.call(getForkable, { params: apiParams(target), org: org.slug }),
  ]);
  const { reason } = forkable.data;
  const source = `${definition.namespace}@${definition.version}`;
  const title = `Fork ${definition.displayName}`;
  if (reason) {
    const effects = html`<p>${source} cannot be forked into ${org.name}. ${DENIALS[reason]}</p>`;
    const status = reason === "INSUFFICIENT_ORG_ROLE" ? 403 : 200;
    return actionPage(page, { title, target, effects, status });
  }
  return actionPage(page, {
    title,
    target,
    effects: effectList([
      html`Copies the YAML of ${source} into ${org.name} as draft 1.0.0 of a new ${target.type}.`,
      "References to definitions of the source's organization keep pointing there.",
      "The fork names its source. Later changes of the source do not reach it.",
    ]),
    // In the source's own organization, its name is already taken.
    fields: renderFields(page, target.organization === org.slug ? "" : definition.name),
    button: `Fork into ${org.name}`,
  });
}

export async function submitFork(page: SignedInPage, target: PageAddress): Promise<PageResult> {
  const org = requireCurrentOrg(page);
  const idempotencyKey = idempotencyKeyOf(page.form);
  const input = { params: apiParams(target), org: org.slug, body: bodyOf(page), idempotencyKey };
  const { definition, warnings } = (await page.call(forkDefinition, input)).data;
  const made = { organization: org.slug, ...definition };
  return seeOtherWith(definitionPath(made, "edit"), "forked", warnings);
}

function bodyOf({ form }: SignedInPage): object {
  const displayName = form.get("displayName") ?? "";
  return {
    name: form.get("name") ?? "",
    visibility: form.get("visibility") ?? "private",
    ...(displayName === "" ? {} : { displayName }),
  };
}

const DENIALS: Readonly<Record<ForkDenial, string>> = {
  NOT_PUBLISHED: "This version is not published.",
  ARCHIVED: "This version is archived.",
  UNAUTHENTICATED: "Sign in to fork definitions.",
  INSUFFICIENT_ORG_ROLE:
    "Your role in this organization does not allow it. Forking needs the role publisher.",
};

function renderFields({ form, problems }: SignedInPage, proposed: string): Html {
  const name = form.get("name") ?? proposed;
  const hint = "Not yet used in the organization: a-z, 0-9 and hyphens, starting with a letter";
  const shown = {
    name: "displayName",
    label: "Display name (optional)",
    hint: "Default: that of the source",
  };
  return html`${inputField({ name: "name", label: "Name", hint, problems }, html`maxlength="100" required value="${name}"`)}
${inputField({ ...shown, problems }, html`value="${form.get("displayName")}"`)}
${renderVisibility(form.get("visibility") ?? "private", problems)}`;
}
