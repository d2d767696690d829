/** Pages to sign in and out, and to create and recover accounts by mail. */
import type { PageRoute } from "../page.ts";
import { answerInvitation, showInvitation } from "./invitation.ts";
import { requestReset, resetPassword, showForgotten, showReset } from "./reset_password.ts";
import { takeSecondStep } from "./second_step.ts";
import { showSignIn, signIn, signOut } from "./sign_in.ts";
import { confirm, showConfirm, showSignUp, signUp } from "./sign_up.ts";

/** The maximum size of a form with an email and a password in percent-encoded UTF-8. A passkey's response is larger. */
const FORM_MAX_BYTES = 16 * 1024;
/** Ignores the session, because a link may be opened in a browser where another user is signed in. */
const FOR_ANYBODY = { maxFormBytes: FORM_MAX_BYTES, ignoresCookie: true } as const;

export const SIGN_IN_PAGES: readonly PageRoute[] = [
  ["GET", "/dashboard/sign-in", "all", showSignIn],
  ["POST", "/dashboard/sign-in", "all", signIn, FOR_ANYBODY],
  ["POST", "/dashboard/sign-in/second-factor", "all", takeSecondStep, { ignoresCookie: true }],
  ["POST", "/dashboard/sign-out", "all", signOut],
  ["FORM", "/sign-up", "all", [showSignUp, signUp], FOR_ANYBODY],
  ["FORM", "/sign-up/confirm", "all", [showConfirm, confirm], FOR_ANYBODY],
  ["GET", "/invitation", "all", showInvitation],
  ["POST", "/invitation", "signedIn", answerInvitation],
  ["FORM", "/forgot-password", "all", [showForgotten, requestReset], FOR_ANYBODY],
  ["FORM", "/reset-password", "all", [showReset, resetPassword], FOR_ANYBODY],
];
