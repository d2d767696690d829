/** Signing in and out, and accounts that people make and get back by mail. */
import type { PageRoute } from "../page.ts";
import { answerInvitation, showInvitation } from "./invitation.ts";
import { requestReset, resetPassword, showForgotten, showReset } from "./reset_password.ts";
import { takeSecondStep } from "./second_step.ts";
import { showSignIn, signIn, signOut } from "./sign_in.ts";
import { confirm, showConfirm, showSignUp, signUp } from "./sign_up.ts";

/** An email and a password, in percent-encoded UTF-8. The response of a passkey is larger. */
const FORM_MAX_BYTES = 16 * 1024;
/** Ignores the session, because a link may be opened in a browser where another user is signed in. */
const FOR_ANYBODY = { maxFormBytes: FORM_MAX_BYTES, ignoresCookie: true } as const;

export const SIGN_IN_PAGES: readonly PageRoute[] = [
  ["GET", "/dashboard/sign-in", "all", showSignIn],
  ["POST", "/dashboard/sign-in", "all", signIn, FOR_ANYBODY],
  ["POST", "/dashboard/sign-in/second-factor", "all", takeSecondStep, { ignoresCookie: true }],
  ["POST", "/dashboard/sign-out", "all", signOut],
  ["GET", "/sign-up", "all", showSignUp, FOR_ANYBODY],
  ["POST", "/sign-up", "all", signUp, FOR_ANYBODY],
  ["GET", "/sign-up/confirm", "all", showConfirm, FOR_ANYBODY],
  ["POST", "/sign-up/confirm", "all", confirm, FOR_ANYBODY],
  ["GET", "/invitation", "all", showInvitation],
  ["POST", "/invitation", "signedIn", answerInvitation],
  ["GET", "/forgot-password", "all", showForgotten, FOR_ANYBODY],
  ["POST", "/forgot-password", "all", requestReset, FOR_ANYBODY],
  ["GET", "/reset-password", "all", showReset, FOR_ANYBODY],
  ["POST", "/reset-password", "all", resetPassword, FOR_ANYBODY],
];
