/** The form for a new API key. */
import { KEY_SCOPES } from "../../../shared/vocabulary.ts";
import { type FormProblems, type FormSession, formField, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import type { PageSession } from "../page_session.ts";
import { onceField } from "../write_once.ts";

/** What was typed, as it was. */
export const EMPTY_KEY_FORM = { name: "", organization: "", scope: "read", expiresAt: "" };
export type KeyForm = typeof EMPTY_KEY_FORM;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

const SCOPE_HINTS = {
  read: "Reads and exports.",
  write: "Also publishes definitions, starts exports and manages webhooks, as far as your role allows.",
};

/** Reads the form: what was typed, and the body for the API. A day stands for its end, in UTC. */
export function readKeyForm(text: URLSearchParams): { form: KeyForm; body: Partial<KeyForm> } {
  const names = Object.keys(EMPTY_KEY_FORM) as (keyof KeyForm)[];
  const form = Object.fromEntries(names.map((name) => [name, text.get(name)?.trim() ?? ""])) as KeyForm;
  const expiresAt = DAY.test(form.expiresAt) ? `${form.expiresAt}T23:59:59Z` : form.expiresAt;
  const body = Object.fromEntries(Object.entries({ ...form, expiresAt }).filter(([, value]) => value !== ""));
  return { form, body };
}

/** Renders the form with what was typed. */
export function keyForm(
  session: FormSession & Pick<PageSession, "organizations">,
  { form, problems }: { form: KeyForm; problems: FormProblems | null },
): Html {
  return html`<section class="card form-card" aria-labelledby="new-key-title">
  <h2 id="new-key-title">New API key</h2>
  <form method="post">${tokenField(session)}${onceField()}
    ${formField(
      { name: "name", label: "Name", hint: "What the key is for.", problems },
      (attributes) =>
        html`<input ${attributes} type="text" maxlength="200" required autocomplete="off" value="${form.name}">`,
    )}
    ${formField(
      {
        name: "organization",
        label: "Organization",
        hint: "A key for one organization does less harm if it leaks.",
        problems,
      },
      (attributes) => html`<select ${attributes}>${organizationOptions(session, form.organization)}</select>`,
    )}
    <fieldset><legend>Scope</legend>${KEY_SCOPES.map((scope) => scopeChoice(scope, form.scope))}</fieldset>
    ${formField(
      { name: "expiresAt", label: "Last day", hint: "In UTC. Empty: the key does not expire.", problems },
      (attributes) => html`<input ${attributes} type="date" value="${form.expiresAt}">`,
    )}
    <div class="actions"><button type="submit" class="primary">Create key</button></div>
  </form>
</section>`;
}

function organizationOptions({ organizations }: Pick<PageSession, "organizations">, chosen: string): Html[] {
  const options = [{ slug: "", name: "All my organizations" }, ...organizations];
  return options.map(
    ({ slug, name }) => html`<option value="${slug}"${slug === chosen && html` selected`}>${name}</option>`,
  );
}

function scopeChoice(scope: (typeof KEY_SCOPES)[number], chosen: string): Html {
  return html`<label class="choice"><input type="radio" name="scope" value="${scope}"${scope === chosen && html` checked`}>
      <span><b>${scope}</b> <small>${SCOPE_HINTS[scope]}</small></span></label>`;
}
