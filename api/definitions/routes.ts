/** The routes of the registry of definitions. */
import { Elysia } from "elysia";
import { batchRoutes } from "./batch/routes.ts";
import type { DefinitionDeps } from "./document.ts";
import type { ReadDeps } from "./find_readable.ts";
import { readRoutes } from "./read.ts";
import type { DefinitionTurns } from "./turns.ts";

export function definitionRoutes(deps: DefinitionDeps & ReadDeps & { turns: DefinitionTurns }) {
  return new Elysia().use(batchRoutes(deps)).use(readRoutes(deps));
}
