/** Forms: the hidden token, fields with their problems, the summary of errors, writes that may be refused. */
import { ApiError } from "../../shared/errors.ts";
import type { Problem } from "../http/validation_problems.ts";
import { type Content, type Html, html } from "./html.ts";
import type { PageSession } from "./page_session.ts";

/** What the API refused of a form. */
export interface FormProblems {
  /** Of the page that shows them. */
  status: number;
  /** In one sentence. */
  message: string;
  code: string;
  details: Readonly<Record<string, unknown>>;
  /** By the path of the API's field. */
  fields: ReadonlyMap<string, string>;
}

/** What a form says of its page: the token without which it is refused, and the organization that it acts on. */
export function tokenField({ formToken, org }: FormSession): Html {
  return html`<input type="hidden" name="form_token" value="${formToken}">${
    org && html`<input type="hidden" name="org" value="${org.slug}">`
  }`;
}

export type FormSession = Pick<PageSession, "formToken" | "org">;

/** Not problems of a form: the session has ended, or what the page is about does not exist. */
const NOT_OF_FORM: readonly number[] = [401, 404];

export type Outcome<T> = { ok: true; value: T } | { ok: false; problems: FormProblems };

/**
 * Does a form's write. Throws what the form cannot show: a failure of the service, a session that has ended, a resource that
 * does not exist.
 */
export async function attempt<T>(write: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await write() };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || NOT_OF_FORM.includes(error.status))
      throw error;
    return { ok: false, problems: toProblems(error) };
  }
}

/** As `attempt`, where nothing is needed of the response. Returns null without problems. */
export async function findProblems(write: () => Promise<unknown>): Promise<FormProblems | null> {
  const outcome = await attempt(write);
  return outcome.ok ? null : outcome.problems;
}

function toProblems({ status, code, message, details = {} }: ApiError): FormProblems {
  const errors = (details["errors"] ?? []) as readonly Problem[];
  const fields = new Map(errors.map((problem) => [problem.path, problem.message]));
  return { status, code, message, details, fields };
}

/** The summary at the top of a form, which is announced; nothing without problems. */
export function problemSummary(problems: FormProblems | null): Content {
  if (!problems) return null;
  const list = [...problems.fields].filter(([path]) => path !== "");
  return html`<div class="problem" role="alert" tabindex="-1">
  <p>${problems.message}</p>
  ${
    list.length > 1 &&
    html`<ul>${list.map(([path, message]) => html`<li><a href="#${fieldId(path)}">${path}</a> ${message}</li>`)}</ul>`
  }
</div>`;
}

export interface Field {
  /** The API's name of it; also the name of the control. */
  name: string;
  label: string;
  hint?: Content;
  problems: FormProblems | null;
}

/**
 * Label, control, hint and problem of one field. `control` gets the attributes that tie them together, which go into
 * the tag: formField(field, (attributes) => html`<textarea ${attributes}>${value}</textarea>`).
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
  ${problem !== undefined && html`<p class="field-error" id="${id}-error">${capitalized(problem)}</p>`}
</div>`;
}

function fieldId(name: string): string {
  return `field-${name}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
