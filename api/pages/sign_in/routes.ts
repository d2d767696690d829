/** Signing in and out. */
import type { PageRoute } from "../page.ts";
import { showSignIn, signIn } from "./sign_in.ts";
import { signOut } from "./sign_out.ts";

/** An email and a password, in percent-encoded UTF-8. */
const FORM_MAX_BYTES = 16 * 1024;

export const SIGN_IN_PAGES: readonly PageRoute[] = [
  ["GET", "/dashboard/sign-in", "all", showSignIn],
  ["POST", "/dashboard/sign-in", "all", signIn, { maxFormBytes: FORM_MAX_BYTES, ignoresCookie: true }],
  ["POST", "/dashboard/sign-out", "all", signOut],
];
