/** The operations of the registry of definitions. */
import type { AnyOperation } from "../http/operation.ts";
import { createDefinitions, validateDefinition } from "./batch/batch.ts";
import { getDependencies } from "./dependencies/dependencies.ts";
import { getDependents } from "./dependencies/dependents.ts";
import { diffVersions } from "./diff.ts";
import { createDefinition, deleteDefinition, updateDefinition } from "./edit.ts";
import { getExecutionStatistics } from "./executions.ts";
import { forkDefinition } from "./forks/fork.ts";
import { getForkable, getLineage, listForks } from "./forks/forks.ts";
import { archiveDefinition, deprecateDefinition, publishDefinition } from "./lifecycle.ts";
import { listDefinitions } from "./list.ts";
import { getDefinition } from "./read.ts";
import { recordExecution } from "./record_execution.ts";
import { getTranslatorVersion, retranslateDefinition } from "./retranslate.ts";
import { getDefinitionSchema } from "./schemas/language_schemas.ts";
import { getLanguage, listLanguages } from "./schemas/languages.ts";
import { upgradeDefinition } from "./upgrade.ts";
import { listVersions } from "./versions.ts";

export const DEFINITION_OPERATIONS: readonly AnyOperation[] = [
  listDefinitions,
  validateDefinition,
  createDefinitions,
  getDefinition,
  getTranslatorVersion,
  retranslateDefinition,
  upgradeDefinition,
  createDefinition,
  updateDefinition,
  deleteDefinition,
  publishDefinition,
  deprecateDefinition,
  archiveDefinition,
  forkDefinition,
  getForkable,
  getLineage,
  listForks,
  getDependencies,
  getDependents,
  getExecutionStatistics,
  recordExecution,
  listVersions,
  diffVersions,
  listLanguages,
  getLanguage,
  getDefinitionSchema,
];
