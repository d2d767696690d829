/** /settings/profile: the public profile, the email address, and the password. */
import { changePassword as passwordOperation } from "../../accounts/change_password.ts";
import { PASSWORD_MIN_LENGTH } from "../../accounts/password_rules.ts";
import { getUser, updateOwnProfile } from "../../accounts/users.ts";
import { explainPassword, fieldProblem, inputField, passwordField, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { profileInputs } from "../profile_inputs.ts";
import { changeEmail, emailForm } from "./email.ts";
import { settingsPage } from "./settings_page.ts";

const PATH = "/settings/profile";
/** The fields of the public profile, as the API names them. */
const FIELDS = ["name", "bio", "websiteUrl"] as const;

const NOTICES = {
  saved: "Profile saved.",
  email:
    "We email a link to the new address, unless three were sent within an hour. It works for 24 hours. Your address does not change until you confirm it.",
  password: "Password changed. Your other sessions have ended; your API keys stay valid.",
};

/** Saves the form whose name is in the hidden field `form`. */
export async function saveProfile(page: SignedInPage): Promise<PageResult> {
  const { form, call } = page;
  if (form.get("form") === "password") return changePassword(page);
  if (form.get("form") === "email") return changeEmail(page);
  const body = Object.fromEntries(
    FIELDS.map((name) => [name, form.get(name)?.trim() ? form.get(name) : null]),
  );
  await call(updateOwnProfile, { body });
  return seeOtherWith(PATH, "saved");
}

/** Shows all forms. Their field names differ, so each form shows only its own problems. */
export async function showProfile(page: SignedInPage): Promise<PageResult> {
  const { username, email } = page.session.user;
  return settingsPage(page, {
    notices: NOTICES,
    body: html`<section class="card form-card" aria-labelledby="profile-title">
  <h2 id="profile-title">Profile</h2>
  <p class="quiet">Signed in as ${username}, ${email}. Everyone can see the fields below and your username, never your email.</p>
  ${await profileForm(page)}
</section>
<section class="card form-card" aria-labelledby="email-title">
  <h2 id="email-title">Email address</h2>
  ${emailForm(page)}
</section>
<section class="card form-card" aria-labelledby="password-title">
  <h2 id="password-title">Password</h2>
  ${passwordForm(page)}
</section>`,
  });
}

/** Renders the public profile form with the stored values or the user's input. */
async function profileForm({ call, session, form, problems }: SignedInPage): Promise<Html> {
  const { data } = await call(getUser, { params: { id: session.user.id } });
  const text = (name: (typeof FIELDS)[number]) => form.get(name) ?? data[name] ?? "";
  return html`<form method="post">${tokenField(session)}<input type="hidden" name="form" value="profile">
  ${inputField({ name: "name", label: "Name", problems }, html`type="text" maxlength="200" autocomplete="name" value="${text("name")}"`)}
  ${profileInputs({ name: "bio", label: "Bio", value: text("bio") }, text("websiteUrl"), problems)}
  <div class="actions"><button type="submit" class="primary">Save profile</button></div>
</form>`;
}

async function changePassword({ call, form }: SignedInPage): Promise<PageResult> {
  const body = {
    currentPassword: form.get("currentPassword") ?? "",
    newPassword: form.get("newPassword") ?? "",
  };
  if (body.newPassword !== form.get("repeatedPassword"))
    throw fieldProblem("repeatedPassword", "must be the same as the new password");
  await explainPassword(call(passwordOperation, { body }), "currentPassword");
  return seeOtherWith(PATH, "password");
}

/** Renders the form, which is always empty. Its username field is for password managers. */
function passwordForm({ session, problems }: SignedInPage): Html {
  const hint = `At least ${PASSWORD_MIN_LENGTH} characters, and not a common password.`;
  return html`<form method="post">${tokenField(session)}<input type="hidden" name="form" value="password">
  <input type="text" name="username" value="${session.user.username}" autocomplete="username" hidden>
  ${passwordField({ name: "currentPassword", label: "Current password", problems }, "current-password")}
  ${passwordField({ name: "newPassword", label: "New password", hint, problems }, "new-password")}
  ${passwordField({ name: "repeatedPassword", label: "New password again", problems }, "new-password")}
  <div class="actions"><button type="submit" class="primary">Change password</button></div>
</form>`;
}
