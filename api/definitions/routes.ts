/** The routes of the registry of definitions. */
import { Elysia } from "elysia";
import { batchRoutes } from "./batch/routes.ts";
import { dependencyRoutes } from "./dependencies.ts";
import type { DefinitionDeps } from "./document.ts";
import { editRoutes } from "./edit.ts";
import { executionRoutes } from "./executions.ts";
import { forkRoutes } from "./forks.ts";
import { createPublicationTurns, lifecycleRoutes } from "./lifecycle.ts";
import { type ListDeps, listRoutes } from "./list.ts";
import { readRoutes } from "./read.ts";
import { translationRoutes } from "./translation.ts";
import { versionRoutes } from "./versions.ts";

export function definitionRoutes(deps: DefinitionDeps & ListDeps) {
  const publishDeps = { ...deps, publications: createPublicationTurns(deps.config) };
  return new Elysia()
    .use(translationRoutes(deps))
    .use(batchRoutes(publishDeps))
    .use(lifecycleRoutes(publishDeps))
    .use(dependencyRoutes(deps))
    .use(executionRoutes(deps))
    .use(versionRoutes(deps))
    .use(forkRoutes(deps))
    .use(listRoutes(deps))
    .use(readRoutes(deps))
    .use(editRoutes(deps));
}
