/** The pages about models: the list, the comparison, and one model. */
import type { PageRoute } from "../page.ts";
import { showComparison } from "./compare.ts";
import { showModels } from "./list.ts";
import { showModel } from "./model.ts";

export const MODEL_PAGES: readonly PageRoute[] = [
  ["GET", "/models", "all", showModels],
  ["GET", "/models/compare", "all", showComparison],
  ["GET", "/models/:provider/*", "all", showModel],
];
