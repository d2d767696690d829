/** The form of a webhook: its address and the events that it gets; and whether it delivers. */
import { EVENT_TYPES } from "../../../shared/vocabulary.ts";
import {
  choiceGroup,
  type FormProblems,
  type FormSession,
  inputField,
  onceField,
  tokenField,
} from "../forms.ts";
import { type Html, html } from "../html.ts";
import { badge, renderInstant } from "../parts.ts";

export interface WebhookForm {
  url: string;
  types: readonly string[];
}

export const EMPTY_WEBHOOK_FORM: WebhookForm = { url: "", types: [] };

/** Reads what was typed and ticked. */
export function readWebhookForm(value: URLSearchParams): WebhookForm {
  return { url: value.get("url")?.trim() ?? "", types: value.getAll("types") };
}

/** Renders the form. `action` is the text of its button. */
export function webhookForm(
  session: FormSession,
  { form, problems, action }: { form: WebhookForm; problems: FormProblems | null; action: string },
): Html {
  const problem = problems?.fields.has("types") ? "Choose at least one event." : undefined;
  const types = EVENT_TYPES.map((type) => [type, type] as const);
  return html`<form method="post">${tokenField(session)}${onceField()}<input type="hidden" name="action" value="save">
  ${inputField({ name: "url", label: "Address", hint: "A public https address.", problems }, html`type="url" maxlength="2048" required autocomplete="off" value="${form.url}"`)}
  ${choiceGroup("checkbox", { name: "types", label: "Events", problem }, types, form.types)}
  <div class="actions"><button type="submit" class="primary">${action}</button></div>
</form>`;
}

export function renderState({ disabledAt }: { disabledAt: string | null }): Html {
  if (disabledAt === null) return badge("Enabled", "good");
  return html`${badge("Paused")} <small>since ${renderInstant(disabledAt)}</small>`;
}
