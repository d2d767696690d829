/** Signing in and out. */
import { Elysia } from "elysia";
import { access } from "../../http/access.ts";
import { PAGE_ROUTE, type Pages } from "../page.ts";
import { signOut } from "./sign_out.ts";

export function signInRoutes(pages: Pages) {
  return new Elysia()
    .use(access)
    .post("/dashboard/sign-out", ({ request }) => pages.show(request, signOut), PAGE_ROUTE);
}
