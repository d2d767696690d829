/** The languages of definitions. Each type has one table of keys. */
import type { DefinitionType } from "../../vocabulary.ts";
import { AGENT_KEYS } from "./agent_keys.ts";
import { COMMAND_KEYS } from "./command_keys.ts";
import { type Key, key } from "./keys.ts";
import { PIPELINE_KEYS } from "./pipeline_keys.ts";
import { WORKFLOW_KEYS } from "./workflow_keys.ts";

/** The version of all four languages. Each language has had only this version. */
export const LANGUAGE_VERSION = "1.0";

export const LANGUAGES: Readonly<Record<DefinitionType, Key>> = {
  agent: key.block("An agent", AGENT_KEYS),
  command: key.block("A command", COMMAND_KEYS),
  workflow: key.block("A workflow", WORKFLOW_KEYS),
  pipeline: key.openBlock("A pipeline", PIPELINE_KEYS),
};
