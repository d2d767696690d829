/** A secret that is shown once, in the response to the form that created it. */
import { type Html, html } from "./html.ts";

/** The script for pages with a copy button. */
export const COPY_SCRIPT = html`<script type="module" src="/dashboard/assets/copy_button.js"></script>`;

/** Renders a secret with a button that copies it. Without JavaScript, the text can be selected. */
export function renderSecret({ label, secret }: { label: string; secret: string }): Html {
  return html`<div class="form-field">
  <p id="secret-label"><b>${label}</b></p>
  <div class="copy-row"><code id="secret" tabindex="0" role="textbox" aria-readonly="true" aria-labelledby="secret-label">${secret}</code>
    <button type="button" class="primary" data-copies="secret" hidden>Copy</button></div>
  <small>Copy it now. It is not shown again.</small>
</div>`;
}
