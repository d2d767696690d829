/** The landing page. */
import type { PageRoute } from "../page.ts";
import { showHome } from "./home.ts";

export const HOME_PAGES: readonly PageRoute[] = [["GET", "/", "all", showHome]];
