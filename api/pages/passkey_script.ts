/** The script of forms that use or make a passkey. */
import { html } from "./html.ts";

/** Goes into the head of a page with such a form. */
export const PASSKEY_SCRIPT = html`<script type="module" src="/dashboard/assets/passkey.js"></script>`;
