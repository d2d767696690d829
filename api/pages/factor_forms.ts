/**
 * Second factors in forms: what a code is called, and the forms of passkeys, which a script shows where the browser can use
 * them.
 */
import { type Content, type Html, html } from "./html.ts";

/** Goes into the head of a page with such a form. */
export const PASSKEY_SCRIPT = html`<script type="module" src="/dashboard/assets/passkey.js"></script>`;

/** The text that a browser shows if it cannot show the form. */
export const PASSKEY_MISSING = html`<p class="quiet" data-missing>Passkeys need JavaScript, https and a current browser.</p>`;

interface PasskeyForm {
  /** The method of `navigator.credentials`. */
  does: "get" | "create";
  /** The path of the API that returns the options, below /api/v1/auth. */
  options: string;
  /** The address that it is sent to; the page's own if omitted. */
  action?: string;
}

/** Renders the form with its fields and its button. */
export function passkeyForm({ does, options, action }: PasskeyForm, fields: Content, button: Content): Html {
  return html`<form method="post"${action !== undefined && html` action="${action}"`} data-options-from="/api/v1/auth${options}" data-does="${does}" hidden>${fields}<input type="hidden" name="passkey">
    <div class="problem" role="alert"></div>
    <div class="actions"><button type="submit">${button}</button></div>
  </form>`;
}

/** Names the codes that a user with these methods has; null without any. */
export function codeLabel(methods: readonly string[]): string | null {
  const hasRecoveryCode = methods.includes("recovery_code");
  if (!methods.includes("totp")) return hasRecoveryCode ? "Recovery code" : null;
  return `Code from your authenticator app${hasRecoveryCode ? ", or a recovery code" : ""}`;
}
