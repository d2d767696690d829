/** The routes of the registry of definitions. */
import { Elysia } from "elysia";
import { batchRoutes } from "./batch/routes.ts";
import type { DefinitionDeps } from "./document.ts";
import { editRoutes } from "./edit.ts";
import { type ListDeps, listRoutes } from "./list.ts";
import { readRoutes } from "./read.ts";
import { translationRoutes } from "./translation.ts";
import type { DefinitionTurns } from "./turns.ts";

export function definitionRoutes(deps: DefinitionDeps & ListDeps & { turns: DefinitionTurns }) {
  return new Elysia()
    .use(translationRoutes(deps))
    .use(batchRoutes(deps))
    .use(listRoutes(deps))
    .use(readRoutes(deps))
    .use(editRoutes(deps));
}
