/**
 * Second factors in forms: the label of a code, and the forms for passkeys. A script shows these forms if the browser supports
 * passkeys.
 */
import { type Content, type Html, html } from "./html.ts";

/** The script for pages with a passkey form. */
export const PASSKEY_SCRIPT = html`<script type="module" src="/dashboard/assets/passkey.js"></script>`;

/** Shown in browsers that do not support passkeys. */
export const PASSKEY_MISSING = html`<p class="quiet" data-missing>Passkeys need JavaScript, https and a current browser.</p>`;

interface PasskeyForm {
  /** The method of `navigator.credentials`. */
  does: "get" | "create";
  /** The API path that returns the options, relative to /api/v1/auth. */
  options: string;
  /** The URL that the form is submitted to; the page's own URL if omitted. */
  action?: string;
}

/** Renders a passkey form with these fields and this button. */
export function passkeyForm({ does, options, action }: PasskeyForm, fields: Content, button: Content): Html {
  return html`<form method="post"${action !== undefined && html` action="${action}"`} data-options-from="/api/v1/auth${options}" data-does="${does}" hidden>${fields}<input type="hidden" name="passkey">
    <div class="problem" role="alert"></div>
    <div class="actions"><button type="submit">${button}</button></div>
  </form>`;
}

/** Returns the label for the codes of a user with these methods; null if no method has codes. */
export function codeLabel(methods: readonly string[]): string | null {
  const hasRecoveryCode = methods.includes("recovery_code");
  if (!methods.includes("totp")) return hasRecoveryCode ? "Recovery code" : null;
  return `Code from your authenticator app${hasRecoveryCode ? ", or a recovery code" : ""}`;
}
