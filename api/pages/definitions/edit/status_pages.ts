/** …/deprecate, …/archive and …/delete: explain the consequences of an action and perform it. */
import type { Definition } from "../../../../sql/definitions/fields.ts";
import { getDependents } from "../../../definitions/dependencies.ts";
import { archiveDefinition, deleteDefinition, deprecateDefinition } from "../../../definitions/retire.ts";
import { definitionPath } from "../../addresses.ts";
import { nullIf } from "../../api_client.ts";
import { idempotencyKeyOf, inputField, textField } from "../../forms.ts";
import { type Content, type Html, html } from "../../html.ts";
import { type PageResult, type SignedInPage, seeOther, seeOtherWith } from "../../page.ts";
import { countOf } from "../../parts.ts";
import { loadDefinition } from "../definition_frame.ts";
import { apiParams, type VersionPageAddress } from "../page_address.ts";
import { actionPage, effectList, notPossible } from "./action_page.ts";
import { renderDependent } from "./check_report.ts";

type StatusAction = "deprecate" | "archive" | "delete";

interface ActionTexts {
  verb: string;
  /** The status that allows the action. */
  from: Definition["status"];
  /** The message for a version with any other status. */
  possible: string;
  effects: readonly string[];
}

const ACTIONS: Readonly<Record<StatusAction, ActionTexts>> = {
  deprecate: {
    verb: "Deprecate",
    from: "published",
    possible: "Only published versions can be deprecated.",
    effects: [
      "Readers still get this version. They see the reason and the successor; API responses have the Deprecation header.",
      "References resolve to it only if no published version is in their range.",
      "This cannot be undone. You can archive the version later.",
    ],
  },
  archive: {
    verb: "Archive",
    from: "deprecated",
    possible: "Only deprecated versions can be archived.",
    effects: [
      "Lists and search no longer show this version.",
      "Only its exact version finds it. References with a range no longer resolve to it.",
      "This cannot be undone.",
    ],
  },
  delete: {
    verb: "Delete",
    from: "draft",
    possible: "Only drafts can be deleted.",
    effects: [
      "The draft and its text are deleted. This cannot be undone.",
      "If it is the only version, the name becomes free again.",
    ],
  },
};

/** Returns the views that show an action and perform it. */
export function statusAction(action: StatusAction) {
  return [
    (page: SignedInPage, target: VersionPageAddress) => showAction(page, target, action),
    (page: SignedInPage, target: VersionPageAddress) => doAction(page, target, action),
  ] as const;
}

async function showAction(
  page: SignedInPage,
  target: VersionPageAddress,
  action: StatusAction,
): Promise<PageResult> {
  const { verb, from, possible, effects } = ACTIONS[action];
  const definition = await loadDefinition(page, target);
  const { name, version, status } = definition;
  const title = `${verb} ${name} ${version}`;
  if (status !== from) return actionPage(page, { title, target, effects: notPossible(definition, possible) });
  return actionPage(page, {
    title,
    target,
    effects: html`${effectList(effects)}${action !== "delete" && (await renderDependents(page, target))}`,
    fields: action === "deprecate" && renderReason(page),
    button: `${verb} ${version}`,
  });
}

async function doAction(
  { form, call }: SignedInPage,
  target: VersionPageAddress,
  action: StatusAction,
): Promise<PageResult> {
  const params = apiParams(target);
  if (action === "delete") {
    await call(deleteDefinition, { params });
    return seeOther("/definitions");
  }
  const successor = (form.get("successor") ?? "").trim();
  const deprecation = { reason: form.get("reason") ?? "", ...(successor === "" ? {} : { successor }) };
  const input = { params, idempotencyKey: idempotencyKeyOf(form) };
  if (action === "deprecate") await call(deprecateDefinition, { ...input, body: deprecation });
  else await call(archiveDefinition, { ...input, body: {} });
  return seeOtherWith(definitionPath(target), `${action}d`);
}

/** The maximum number of dependents in the list. Further ones are only counted. */
const DEPENDENTS_SHOWN = 20;

async function renderDependents(page: SignedInPage, target: VersionPageAddress): Promise<Content> {
  const called = page.call(getDependents, { params: apiParams(target) });
  const found = await nullIf(["SERVICE_UNAVAILABLE", "RATE_LIMITED"], called);
  // The action is possible without the list.
  if (found === null) return html`<p>The dependents could not be listed now.</p>`;
  const { dependents, totalCount: total } = found.data;
  if (total === 0) return html`<p>No definition that you can see requires this version.</p>`;
  const shown = dependents.slice(0, DEPENDENTS_SHOWN);
  return html`<p>${countOf(total, "definition")} may resolve to this version:</p>
<ul>${shown.map(renderDependent)}</ul>
${total > shown.length && html`<p>and <a href="${definitionPath(target, "dependents")}">${total - shown.length} more</a></p>`}`;
}

function renderReason({ form, problems }: SignedInPage): Html {
  const reason = { name: "reason", label: "Reason", hint: "Readers see it.", problems };
  const successor = {
    name: "successor",
    label: "Successor (optional)",
    hint: "name, name@1.2.0 or @org/name@1.2.0, of the same type",
    problems,
  };
  return html`${textField(reason, html`rows="3" maxlength="2000" required`, form.get("reason"))}
${inputField(successor, html`maxlength="200" value="${form.get("successor")}"`)}`;
}
