/** /settings/profile: the public profile, the email address, and the password. */
import { changePassword as passwordOperation } from "../../accounts/change_password.ts";
import { updateOwnProfile } from "../../accounts/own_profile.ts";
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from "../../accounts/password_rules.ts";
import { getUser } from "../../accounts/users.ts";
import {
  type FormProblems,
  fieldProblem,
  findPasswordProblems,
  findProblems,
  inputField,
  problemSummary,
  tokenField,
} from "../forms.ts";
import { type Html, html } from "../html.ts";
import { renderNotice } from "../notice.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { profileInputs } from "../profile_inputs.ts";
import { changeEmail, emailForm } from "./email.ts";
import { settingsPage } from "./settings_page.ts";

/** The fields of the form, as the API names them. */
const FIELDS = ["name", "bio", "websiteUrl"] as const;
type ProfileFields = Record<(typeof FIELDS)[number], string>;

const NOTICES = {
  profile: "Profile saved.",
  email:
    "We sent a link to your new address. It works for 24 hours. Your address does not change until you confirm it.",
  password: "Password changed. Your other sessions have ended; your API keys stay valid.",
};

/** Shows both forms. */
export async function showProfile(page: SignedInPage): Promise<PageResult> {
  return renderPage(page, await loadFields(page), {});
}

/** Saves the form that was sent: the hidden field `form` says which one. */
export async function saveProfile(page: SignedInPage): Promise<PageResult> {
  if (page.form.get("form") === "password") {
    const problems = await changePassword(page);
    if (!problems) return seeOtherWith("/settings/profile", "password");
    return renderPage(page, await loadFields(page), { password: problems });
  }
  if (page.form.get("form") === "email") {
    const problems = await changeEmail(page);
    if (!problems) return seeOtherWith("/settings/profile", "email");
    return renderPage(page, await loadFields(page), { email: problems });
  }
  const typed = Object.fromEntries(FIELDS.map((name) => [name, page.form.get(name) ?? ""])) as ProfileFields;
  const body = Object.fromEntries(
    FIELDS.map((name) => [name, typed[name].trim() === "" ? null : typed[name]]),
  );
  const problems = await findProblems(() => page.call(updateOwnProfile, { body }));
  if (!problems) return seeOtherWith("/settings/profile", "profile");
  return renderPage(page, typed, { profile: problems });
}

async function loadFields({ call, session }: SignedInPage): Promise<ProfileFields> {
  const { data } = await call(getUser, { params: { id: session.user.id } });
  return { name: data.name ?? "", bio: data.bio ?? "", websiteUrl: data.websiteUrl ?? "" };
}

interface ProblemsByForm {
  profile?: FormProblems;
  email?: FormProblems;
  password?: FormProblems;
}

function renderPage(
  { url, session, notice, form }: SignedInPage,
  fields: ProfileFields,
  problems: ProblemsByForm,
): PageResult {
  const { username, email } = session.user;
  const shown = problems.profile ?? problems.email ?? problems.password ?? null;
  const wanted = problems.email ? (form.get("email") ?? "") : "";
  return settingsPage({
    url,
    status: shown?.status,
    body: html`${renderNotice(notice, NOTICES)}${problemSummary(shown)}
<section class="card form-card" aria-labelledby="profile-title">
  <h2 id="profile-title">Profile</h2>
  <p class="quiet">Signed in as ${username}, ${email}. Everyone can see the fields below and your username, never your email.</p>
  ${profileForm(tokenField(session), fields, problems.profile ?? null)}
</section>
<section class="card form-card" aria-labelledby="email-title">
  <h2 id="email-title">Email address</h2>
  ${emailForm(tokenField(session), { email, wanted, problems: problems.email ?? null })}
</section>
<section class="card form-card" aria-labelledby="password-title">
  <h2 id="password-title">Password</h2>
  ${passwordForm(tokenField(session), { username, problems: problems.password ?? null })}
</section>`,
  });
}

/** Renders the form of the public profile with what was typed. */
function profileForm(
  token: Html,
  { name, bio, websiteUrl }: ProfileFields,
  problems: FormProblems | null,
): Html {
  return html`<form method="post">${token}<input type="hidden" name="form" value="profile">
  ${inputField({ name: "name", label: "Name", problems }, html`type="text" maxlength="200" autocomplete="name" value="${name}"`)}
  ${profileInputs({ name: "bio", label: "Bio", value: bio }, websiteUrl, problems)}
  <div class="actions"><button type="submit" class="primary">Save profile</button></div>
</form>`;
}

/** Changes the password. Returns what is wrong with the form, or null. */
async function changePassword({ call, form }: SignedInPage): Promise<FormProblems | null> {
  const currentPassword = form.get("currentPassword") ?? "";
  const newPassword = form.get("newPassword") ?? "";
  if (newPassword !== form.get("repeatedPassword")) {
    return fieldProblem("repeatedPassword", "must be the same as the new password");
  }
  const body = { currentPassword, newPassword };
  return findPasswordProblems("currentPassword", () => call(passwordOperation, { body }));
}

/** Renders the form, always empty. The username is for password managers. */
function passwordForm(
  token: Html,
  { username, problems }: { username: string; problems: FormProblems | null },
): Html {
  const field = (name: string, label: string, autocomplete: string, hint?: string) => {
    const isNew = autocomplete === "new-password";
    return inputField(
      { name, label, hint, problems },
      html`type="password" autocomplete="${autocomplete}" required${isNew && html` minlength="${PASSWORD_MIN_LENGTH}"`} maxlength="${PASSWORD_MAX_LENGTH}"`,
    );
  };
  return html`<form method="post">${token}<input type="hidden" name="form" value="password">
  <input type="text" name="username" value="${username}" autocomplete="username" hidden>
  ${field("currentPassword", "Current password", "current-password")}
  ${field("newPassword", "New password", "new-password", `At least ${PASSWORD_MIN_LENGTH} characters, and not a common password.`)}
  ${field("repeatedPassword", "New password again", "new-password")}
  <div class="actions"><button type="submit" class="primary">Change password</button></div>
</form>`;
}
