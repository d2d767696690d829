/** /settings/second-factor: authenticator apps, passkeys and recovery codes of a user. Secrets are shown once. */
import { encode } from "uqr";
import { ApiError } from "../../../shared/errors.ts";
import { addPasskey, beginTotp, confirmTotp } from "../../accounts/factors/add_factor.ts";
import {
  listFactors,
  removeFactor as removeOperation,
  renewRecoveryCodes,
} from "../../accounts/factors/factors.ts";
import { verifyFactor } from "../../accounts/factors/verify_factor.ts";
import { PASSWORD_MAX_LENGTH } from "../../accounts/password_rules.ts";
import { notFound } from "../../http/require_visible.ts";
import type { ResponseOf } from "../api_client.ts";
import { confirmPage } from "../confirm.ts";
import { codeLabel, PASSKEY_MISSING, PASSKEY_SCRIPT, passkeyForm } from "../factor_forms.ts";
import { explained, inputField, tokenField } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOther, seeOtherWith } from "../page.ts";
import { countOf, emptyState } from "../parts.ts";
import { settingsPage } from "./settings_page.ts";

const PATH = "/settings/second-factor";
/** Notices after forms that return no secret, by the value of their hidden field. */
const NOTICES = {
  verify: "Confirmed. You can now change your second factors and create API keys.",
  confirm: "Authenticator app added. Your other sessions have ended.",
  passkey: "Passkey added. Your other sessions have ended.",
  removed: "Second factor removed. Your other sessions have ended.",
};
/** Shown if a form is sent twice, too late, or after too many wrong codes. The first response may have had recovery codes. */
const GONE =
  "This form has expired or was sent already. If your new app or passkey is listed below, it was added: replace your " +
  "recovery codes, unless you have saved them. Otherwise, start again.";
/** The age up to which a confirmation is recent. The API allows more, so that there is time to fill in a form. */
const RECENT_MS = 12 * 60_000;
/** The maximum length: an encoded email address of 320 characters, and the rest of the URI. */
const URI_MAX_LENGTH = 1500;

type Factors = ResponseOf<typeof listFactors>["data"];

interface Shown {
  codes?: readonly string[] | null;
  secret?: { secret: string; uri: string } | null;
}

/** Shows the second factors. After a mistyped code, shows the same secret again. */
export function showFactors(page: SignedInPage): Promise<PageResult> {
  const { form, problems } = page;
  const isOpen = form.get("form") === "confirm" && problems?.message !== GONE;
  return render(page, { secret: isOpen ? secretOf(form) : null });
}

/** Performs the action that the form's hidden field names. */
export async function changeFactors(page: SignedInPage): Promise<PageResult> {
  const { form, call } = page;
  const code = form.get("code") ?? "";
  const name = form.get("name") ?? "";
  const passkey = form.get("passkey") ?? "";
  const password = form.get("password");
  const forms: Readonly<Record<string, () => Promise<Shown>>> = {
    async verify() {
      await call(verifyFactor, { body: passkey ? { passkey } : { code } });
      return {};
    },
    begin: async () => ({ secret: (await call(beginTotp, { body: password ? { password } : {} })).data }),
    confirm: async () => ({ codes: (await call(confirmTotp, { body: { name, code } })).data.recoveryCodes }),
    passkey: async () => ({
      codes: (await call(addPasskey, { body: { name, passkey } })).data.recoveryCodes,
    }),
    renew: async () => ({ codes: (await call(renewRecoveryCodes, { body: {} })).data.recoveryCodes }),
  };
  const kind = form.get("form") ?? "";
  const change = Object.hasOwn(forms, kind) ? forms[kind] : undefined;
  if (!change) throw new ApiError("VALIDATION_ERROR");
  // A form requires a valid session, so only the password or the code can be wrong.
  const done = await explained(
    change(),
    ({ status, message }) =>
      [401, 404].includes(status) &&
      new ApiError("VALIDATION_ERROR", { message: status === 404 ? GONE : message }),
  );
  return done.codes || done.secret ? render(page, done) : seeOtherWith(PATH, kind);
}

/** Returns the secret that the form sends back. */
function secretOf(form: URLSearchParams): { secret: string; uri: string } | null {
  const uri = form.get("uri") ?? "";
  return uri.startsWith("otpauth:") && uri.length < URI_MAX_LENGTH
    ? { secret: form.get("secret") ?? "", uri }
    : null;
}

/** Renders a QR code, which is black on white even in dark mode, because apps cannot read other colors. */
function renderQrCode(uri: string): Html {
  const { data, size } = encode(uri, { border: 2 });
  const squares = data.flatMap((row, y) => row.map((isBlack, x) => (isBlack ? `M${x},${y}h1v1h-1z` : "")));
  return html`<svg role="img" aria-label="QR code of the secret" width="220" height="220" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><rect fill="#fff" width="${size}" height="${size}"/><path fill="#000" d="${squares.join("")}"/></svg>`;
}

export async function confirmRemoval(page: SignedInPage, { id }: { id: string }): Promise<PageResult> {
  const { factors, provenAt } = await load(page);
  const factor = factors.find((candidate) => candidate.id === id);
  if (!factor) throw notFound("factor");
  if (!isRecent(provenAt)) return seeOther(PATH);
  const isLast = factors.length === 1;
  return confirmPage(page, {
    section: "settings",
    title: "Remove this second factor?",
    text: html`<p><b>${factor.name}</b></p>
  <p>Your other sessions end.${isLast && " This is your last second factor: without it, your password alone is enough to sign in, and your recovery codes stop working."}</p>`,
    action: "Remove",
    cancel: PATH,
  });
}

export async function removeFactor({ call }: SignedInPage, { id }: { id: string }): Promise<PageResult> {
  await call(removeOperation, { params: { id } });
  return seeOtherWith(PATH, "removed");
}

async function load({ call }: SignedInPage): Promise<Factors> {
  return (await call(listFactors)).data;
}

function isRecent(provenAt: string | null): boolean {
  return provenAt !== null && Date.now() - Date.parse(provenAt) < RECENT_MS;
}

async function render(page: SignedInPage, { codes, secret }: Shown): Promise<PageResult> {
  const own = await load(page);
  const { factors, recoveryCodesLeft, provenAt } = own;
  const mayChange = factors.length === 0 || isRecent(provenAt);
  const forms = mayChange
    ? html`${addForms(page, { isFirst: factors.length === 0 })}${factors.length > 0 && renewForm(page, recoveryCodesLeft)}`
    : verifyForms(page, own);
  return settingsPage(page, {
    head: PASSKEY_SCRIPT,
    notices: NOTICES,
    body: html`${codes && renderCodes(codes)}
${secret && renderSecret(page, secret)}
<section class="stack" aria-labelledby="factors-title">
  <h2 id="factors-title">Second factor</h2>
  <p class="quiet">With a second factor, signing in requires your password and either a code from an app or a passkey.</p>
  ${renderFactors(factors, mayChange)}
</section>
${!secret && !codes && forms}`,
  });
}

function renderFactors(factors: Factors["factors"], mayChange: boolean): Html {
  if (factors.length === 0) return emptyState("You have no second factor.");
  const items = factors.map(
    ({ id, kind, name }) =>
      html`<li><b>${name}</b> <span class="tag">${kind === "totp" ? "Authenticator app" : "Passkey"}</span>
  ${mayChange && html`<a class="button danger" href="${PATH}/${id}/remove" aria-label="Remove ${name}">Remove</a>`}</li>`,
  );
  return html`<ul class="stack">${items}</ul>`;
}

function renderCodes(codes: readonly string[]): Html {
  return html`<section class="card form-card" aria-labelledby="codes-title">
  <h2 id="codes-title">Recovery codes</h2>
  <p>Each code replaces your second factor once. Download or print the codes, or write them down now. They are not shown again.</p>
  <pre tabindex="0">${codes.join("\n")}</pre>
  <div class="actions"><a class="button" download="recovery-codes.txt" href="data:text/plain,${codes.join("%0A")}%0A">Download</a> <a class="button" href="${PATH}">Done</a></div>
</section>`;
}

function renderSecret(
  { session, form, problems }: SignedInPage,
  { secret, uri }: { secret: string; uri: string },
): Html {
  return html`<section class="card form-card" aria-labelledby="secret-title">
  <h2 id="secret-title">Add an authenticator app</h2>
  <p>Scan the code with the app, or type the secret into it.</p>
  ${renderQrCode(uri)}
  <p>Secret: <code>${secret}</code></p>
  <form method="post">${tokenField(session)}<input type="hidden" name="form" value="confirm">
    <input type="hidden" name="secret" value="${secret}"><input type="hidden" name="uri" value="${uri}">
    ${inputField({ name: "name", label: "Name", problems }, html`value="${form.get("name") ?? "Phone"}" maxlength="100" required`)}
    ${inputField({ name: "code", label: "Code from the app", problems }, html`inputmode="numeric" autocomplete="one-time-code" maxlength="16" required`)}
    <div class="actions"><button type="submit" class="primary">Add app</button> <a class="button" href="${PATH}">Cancel</a></div>
  </form>
</section>`;
}

function addForms({ session }: SignedInPage, { isFirst }: { isFirst: boolean }): Html {
  const password = (id: string): Content =>
    isFirst &&
    html`<div class="form-field"><label for="${id}">Your password</label>
    <input id="${id}" name="password" type="password" autocomplete="current-password" maxlength="${PASSWORD_MAX_LENGTH}" required></div>`;
  const fields = html`${tokenField(session)}<input type="hidden" name="form" value="passkey">
  <div class="form-field"><label for="passkey-name">Name</label><input id="passkey-name" name="name" value="Passkey" maxlength="100" required></div>
  ${password("passkey-password")}`;
  return html`<section class="card form-card" aria-labelledby="app-title"><h2 id="app-title">Add an authenticator app</h2>
  <form method="post">${tokenField(session)}<input type="hidden" name="form" value="begin">
  ${password("app-password")}
  <div class="actions"><button type="submit" class="primary">Continue</button></div></form>
</section>
<section class="card form-card" aria-labelledby="passkey-title"><h2 id="passkey-title">Add a passkey</h2>
  ${PASSKEY_MISSING}
  ${passkeyForm({ does: "create", options: "/factors/passkeys/options" }, fields, "Add a passkey")}
</section>`;
}

function renewForm({ session }: SignedInPage, codesLeft: number): Html {
  return html`<section class="card form-card" aria-labelledby="renew-title"><h2 id="renew-title">Recovery codes</h2>
  <p>You have ${countOf(codesLeft, "unused recovery code")}.</p>
  <form method="post">${tokenField(session)}<input type="hidden" name="form" value="renew">
  <div class="actions"><button type="submit">Replace codes</button></div></form>
</section>`;
}

/** Renders forms for the user's methods: a passkey, and codes from an app or recovery codes. */
function verifyForms({ session, problems }: SignedInPage, { factors, recoveryCodesLeft }: Factors): Html {
  const kinds = factors.map(({ kind }) => kind);
  const label = codeLabel(recoveryCodesLeft > 0 ? [...kinds, "recovery_code"] : kinds);
  const hidden = html`${tokenField(session)}<input type="hidden" name="form" value="verify">`;
  return html`<section class="card form-card" aria-labelledby="verify-title"><h2 id="verify-title">Confirm with a second factor</h2>
  <p>Before you change anything here or create API keys, confirm with a second factor.</p>
  ${
    label !== null &&
    html`<form method="post">${hidden}
  ${inputField({ name: "code", label, problems }, html`autocomplete="one-time-code" maxlength="64" required`)}
  <div class="actions"><button type="submit" class="primary">Continue</button></div></form>`
  }
  ${kinds.includes("passkey") && html`${PASSKEY_MISSING}${passkeyForm({ does: "get", options: "/factors/verify/options" }, hidden, "Use a passkey")}`}
</section>`;
}
