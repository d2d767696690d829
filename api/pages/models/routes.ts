/** The pages about models: list, comparison, one model. */
import { Elysia } from "elysia";
import { access } from "../../http/access.ts";
import { PAGE_ROUTE, type Pages } from "../page.ts";
import { showComparison } from "./compare.ts";
import { showModels } from "./list.ts";
import { showModel } from "./model.ts";

export function modelPageRoutes(pages: Pages) {
  return new Elysia()
    .use(access)
    .get("/models", ({ request }) => pages.show(request, showModels), PAGE_ROUTE)
    .get("/models/compare", ({ request }) => pages.show(request, showComparison), PAGE_ROUTE)
    .get("/models/:provider/*", ({ request }) => pages.show(request, showModel), PAGE_ROUTE);
}
