/** Signing in and out. */
import { Elysia } from "elysia";
import { access, isPage, looksPastCookie } from "../../http/access.ts";
import { PAGE_ROUTE, type Pages } from "../page.ts";
import { showSignIn, signIn } from "./sign_in.ts";
import { signOut } from "./sign_out.ts";

/** An email and a password, in percent-encoded UTF-8. */
const FORM_MAX_BYTES = 16 * 1024;

export function signInRoutes(pages: Pages) {
  return new Elysia({ prefix: "/dashboard" })
    .use(access)
    .get("/sign-in", ({ request }) => pages.show(request, showSignIn), PAGE_ROUTE)
    .post("/sign-in", ({ request }) => pages.show(request, signIn), {
      publicAccess: true,
      detail: { ...isPage({ maxFormBytes: FORM_MAX_BYTES }), ...looksPastCookie() },
    })
    .post("/sign-out", ({ request }) => pages.show(request, signOut), PAGE_ROUTE);
}
