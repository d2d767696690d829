/** Forms whose write must not happen twice when their response is reloaded or the button is pressed again. */
import { type Html, html } from "./html.ts";

/** A hidden field with a value of its own for every rendered form. It becomes the Idempotency-Key of the write. */
export function onceField(): Html {
  return html`<input type="hidden" name="request_id" value="${crypto.randomUUID()}">`;
}

/** Returns the Idempotency-Key of a form. The API rejects an empty one. */
export function idempotencyKeyOf(form: URLSearchParams): string {
  return form.get("request_id") ?? "";
}
