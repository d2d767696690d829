/** The form of a webhook: its address and the events that it gets. */
import { EVENT_TYPES } from "../../../shared/vocabulary.ts";
import { type FormProblems, type FormSession, formField, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { onceField } from "../write_once.ts";

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
  const problem = problems?.fields.get("types");
  const boxes = EVENT_TYPES.map(
    (
      type,
    ) => html`<label class="choice"><input type="checkbox" name="types" value="${type}"${form.types.includes(type) && html` checked`}> <span>${type}</span></label>
    `,
  );
  return html`<form method="post">${tokenField(session)}${onceField()}<input type="hidden" name="action" value="save">
  ${formField(
    { name: "url", label: "Address", hint: "A public https address.", problems },
    (attributes) =>
      html`<input ${attributes} type="url" maxlength="2048" required autocomplete="off" value="${form.url}">`,
  )}
  <fieldset id="field-types"${problem !== undefined && html` aria-describedby="field-types-error"`}><legend>Events</legend>
    ${boxes}${problem !== undefined && html`<p class="field-error" id="field-types-error">Choose at least one event.</p>`}
  </fieldset>
  <div class="actions"><button type="submit" class="primary">${action}</button></div>
</form>`;
}
