/** Reads the demo's documents, which tests use as fixtures. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DefinitionSource, parseDefinition } from "../../../shared/definitions/parse_definition.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";

const FOLDER = join(import.meta.dir, "../../demo/definitions");

export interface DemoDefinition {
  /** The file name, for example `review-code.command.yaml`. */
  file: string;
  type: DefinitionType;
  yaml: string;
}

export function readDemoDefinitions(): DemoDefinition[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map((file) => {
      const type = DEFINITION_TYPES.find((word) => file.endsWith(`.${word}.yaml`));
      if (!type) throw new Error(`Cannot tell the type of demo definition "${file}"`);
      return { file, type, yaml: readFileSync(join(FOLDER, file), "utf8") };
    });
}

/** Parses a definition. Throws if the text is not a valid definition. */
export function parsed(yaml: string, type: DefinitionType = "agent"): DefinitionSource {
  const result = parseDefinition(yaml, { type });
  if (!result.ok) throw new Error(`Cannot parse: ${JSON.stringify(result.problems)}`);
  return result.source;
}
