/** The landing page. */
import { Elysia } from "elysia";
import { access } from "../../http/access.ts";
import { PAGE_ROUTE, type Pages } from "../page.ts";
import { showHome } from "./home.ts";

export function homeRoutes(pages: Pages) {
  return new Elysia().use(access).get("/", ({ request }) => pages.show(request, showHome), PAGE_ROUTE);
}
