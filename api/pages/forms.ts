/** Forms: hidden fields, fields with their problems, error summaries, and writes that the API may reject. */
import { ApiError } from "../../shared/errors.ts";
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from "../accounts/password_rules.ts";
import type { Problem } from "../http/validation_problems.ts";
import { explainError } from "./explain_error.ts";
import { type Content, type Html, html } from "./html.ts";
import type { PageSession } from "./page_session.ts";
import { capitalized } from "./parts.ts";

/** The problems that the API found in a form. */
export interface FormProblems {
  /** HTTP status of the page that shows the problems. */
  status: number;
  /** The problem in one sentence. */
  message: string;
  code: string;
  details: Readonly<Record<string, unknown>>;
  /** Messages by the path of the field in the API. */
  fields: ReadonlyMap<string, string>;
}

/** Renders a form's hidden fields: the required token, and the organization that the form acts on. */
export function tokenField({ formToken, org }: PageSession): Html {
  return html`${hiddenField("form_token", formToken)}${org && hiddenField("org", org.slug)}`;
}

export function hiddenField(name: string, value: Content): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/**
 * Renders a hidden field with a unique value per form. The value is the Idempotency-Key of the write, so reloading the response
 * or pressing the button again does not repeat the write.
 */
export function onceField(): Html {
  return hiddenField("request_id", crypto.randomUUID());
}

/**
 * Returns the Idempotency-Key of a form. A key that no header can contain becomes empty, and the API rejects it. A form from an
 * older release may have no key and gets a new key.
 */
export function idempotencyKeyOf(form: URLSearchParams): string {
  const key = form.get("request_id") ?? crypto.randomUUID();
  return /^[ -~]*$/.test(key) ? key : "";
}

type Outcome<T> = { ok: true; value: T } | { ok: false; problems: FormProblems };

/**
 * Performs a form's write. Throws errors that the form cannot show: a failure of the service, an expired session, or a missing
 * resource.
 */
export async function attempt<T>(write: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await write() };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || [401, 404].includes(error.status)) throw error;
    return { ok: false, problems: toProblems(error) };
  }
}

/** Waits for a call. If `explain` returns an error, throws it instead of the API's error. */
export async function explained<T>(
  called: Promise<T>,
  explain: (error: ApiError) => ApiError | false,
): Promise<T> {
  try {
    return await called;
  } catch (error) {
    throw (error instanceof ApiError && explain(error)) || error;
  }
}

/** Waits for a call that returns a secret. The secret is not stored, so a form that is sent again throws `message`. */
export function explainUsed<T>(called: Promise<T>, message: string): Promise<T> {
  return explained(called, ({ code }) => code === "IDEMPOTENCY_KEY_USED" && new ApiError(code, { message }));
}

/**
 * Waits for a call with the user's password from `field`. Reports UNAUTHORIZED as a problem of this field. Forms require a
 * valid session, so only the password can be wrong.
 */
export function explainPassword<T>(called: Promise<T>, field: string): Promise<T> {
  return explained(
    called,
    ({ code, message }) => code === "UNAUTHORIZED" && fieldProblem(field, "is wrong", message),
  );
}

function toProblems(error: ApiError): FormProblems {
  const { status, code, details = {} } = error;
  const errors = (details["errors"] ?? []) as readonly Problem[];
  const fields = new Map(errors.map((problem) => [problem.path, problem.message]));
  const [first] = fields;
  const text = explainError(error);
  const message = first && text.startsWith("Check the ") ? formMessage(...first) : text;
  return { status, code, message, details, fields };
}

/** Returns a message about the first problem. It uses the field's name in the form instead of the name in the API. */
function formMessage(path: string, problem: string): string {
  // The text of a problem may name another field.
  const text = problem.replaceAll(/\w+_\w+/g, (name) => LABELS[name] ?? name);
  return `Check the form: ${`${fieldWords(path)} ${text}`.trim()}${/[.?!]$/.test(text) ? "" : "."}`;
}

/** Labels of fields whose API names are unclear. */
const LABELS: Readonly<Record<string, string>> = {
  confirm: "confirmation",
  created_from: "created from",
  created_to: "created before",
  expiresAt: "last day",
  repeatedPassword: "new password again",
  since: "changed since",
  types: "events",
  websiteUrl: "website",
};

/** Returns the words in a field's name: `new password` for `newPassword`. */
export function fieldWords(path: string): string {
  return LABELS[path] ?? path.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Returns an error about one field, in the API's format. Without `message`, the page's message names the field. */
export function fieldProblem(path: string, problem: string, message = "Check the form."): ApiError {
  return new ApiError("VALIDATION_ERROR", { message, details: { errors: [{ path, message: problem }] } });
}

/**
 * Renders the summary at the top of a form, with the focus and links to the fields; null without problems. `hasField` returns
 * whether the form has a field with this name. By default, the form has every field.
 */
export function problemSummary(
  problems: FormProblems | null,
  hasField: (name: string) => boolean = () => true,
): Content {
  if (!problems) return null;
  const list = [...problems.fields].filter(([path]) => path !== "");
  const linked = (path: string, text: string) =>
    hasField(path) ? html`<a href="#${fieldId(path)}">${text}</a>` : text;
  const [first] = list;
  return html`<div class="problem" role="alert" tabindex="-1" autofocus>
  <p>${first && list.length === 1 ? linked(first[0], problems.message) : problems.message}</p>
  ${
    list.length > 1 &&
    html`<ul>${list.map(([path, message]) => html`<li>${linked(path, fieldWords(path))} ${message}</li>`)}</ul>`
  }
</div>`;
}

export interface Field {
  /** The field's name in the API and the name of the control. */
  name: string;
  label: Content;
  hint?: Content;
  problems: FormProblems | null;
}

/**
 * Renders a field with its label, control, hint and problem. `control` gets the attributes that connect these parts and must
 * insert them into its tag: formField(field, (attributes) => html`<textarea ${attributes}>${value}</textarea>`).
 */
export function formField({ name, label, hint, problems }: Field, control: (attributes: Html) => Html): Html {
  const id = fieldId(name);
  const problem = problems?.fields.get(name);
  const describedBy = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-error`].filter(
    (part) => part !== false,
  );
  const attributes = html`id="${id}" name="${name}"${
    describedBy.length > 0 && html` aria-describedby="${describedBy.join(" ")}"`
  }${problem !== undefined && html` aria-invalid="true"`}`;
  return html`<div class="form-field">
  <label for="${id}">${label}</label>
  ${control(attributes)}
  ${hint !== undefined && html`<small id="${id}-hint">${hint}</small>`}
  ${fieldError(name, problem)}
</div>`;
}

/** Renders the problem of a field, which is shown below its control. */
export function fieldError(name: string, problem: string | undefined): Content {
  return (
    problem !== undefined &&
    html`<p class="field-error" id="${fieldId(name)}-error">${capitalized(problem)}</p>`
  );
}

/** Renders a field with a single line. */
export function inputField(field: Field, attributes: Html): Html {
  return formField(field, (own) => html`<input ${own} ${attributes}>`);
}

/** Renders a field for the user's current password or a new one. */
export function passwordField(
  field: Field,
  autocomplete: "current-password" | "new-password",
  attributes: Content = null,
): Html {
  const minLength = autocomplete === "new-password" && html` minlength="${PASSWORD_MIN_LENGTH}"`;
  return inputField(
    field,
    html`type="password" autocomplete="${autocomplete}"${minLength} maxlength="${PASSWORD_MAX_LENGTH}" required${attributes}`,
  );
}

/** Renders a field with several lines. Browsers ignore a line break at the start of a text area, so one is added. */
export function textField(field: Field, attributes: Html, value: Content): Html {
  return formField(field, (own) => html`<textarea ${own} ${attributes}>${"\n"}${value}</textarea>`);
}

/** The script for the page after a save, which deletes the kept text. */
export const UNSAVED_SCRIPT = html`<script type="module" src="/dashboard/assets/unsaved_text.js"></script>`;

/** Offers to restore unsaved text, and keeps a form's text until it is saved. Use it inside a form, once per page. */
export const UNSAVED_OFFER = html`<div class="notice" id="unsaved" hidden>
    <p role="alert">You have text that was not saved, typed at <time data-local></time>.</p>
    <p class="actions"><button type="button" value="restore">Restore</button> <button type="button">Discard</button></p>
  </div>${UNSAVED_SCRIPT}`;

type Option = readonly [value: string, label: Content];

export function selectField(field: Field, options: readonly Option[], chosen: string | null): Html {
  return formField(field, (own) => html`<select ${own}>${renderOptions(options, chosen)}</select>`);
}

export function renderOptions(options: readonly Option[], chosen: string | null | undefined): Html[] {
  return options.map(
    ([value, label]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${label}</option>`,
  );
}

type ChoiceType = "radio" | "checkbox";

/** Renders a checkbox or radio button with its label. */
export function choice(
  type: ChoiceType,
  name: string,
  [value, label]: Option,
  isChecked: boolean,
  attributes: Content = null,
): Html {
  return html`<label class="choice"><input type="${type}" name="${name}" value="${value}"${isChecked && html` checked`}${attributes}> <span>${label}</span></label>
`;
}

/** Renders the choices of a field below its label, followed by the field's problem. */
export function choiceGroup(
  type: ChoiceType,
  { name, label, problem }: Pick<Field, "name" | "label"> & { problem: string | undefined },
  options: readonly Option[],
  chosen: readonly string[],
): Html {
  const id = fieldId(name);
  const invalid = problem !== undefined && html` aria-invalid="true" aria-describedby="${id}-error"`;
  return html`<fieldset id="${id}"><legend>${label}</legend>
  ${options.map((option) => choice(type, name, option, chosen.includes(option[0]), invalid))}${fieldError(name, problem)}
</fieldset>`;
}

function fieldId(name: string): string {
  return `field-${name}`;
}
