/** Creates documents of every type for tests of the digest, with values that are easy to serialize wrongly. */
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";
import { Chance, randomNumbers } from "../random_numbers.ts";
import { randomDefinition } from "./random_definitions.ts";
import { writeDocument } from "./yaml_styles.ts";

const RANDOM_DOCUMENTS = 12;
const SEED = 26_001;

/** Scalars and keys of every kind. */
const EXTRA = `
  extra: &extra
    b: [3.10, 3.1, 1e3, 1e+21, 0x1F, 0o17, -0, -1, +1, 12345678901234567890, 9007199254740991, .5, 1e-7, .inf, .nan]
    a: [yes, true, True, null, ~, "", '3.10', "true", ]
    10: ten
    9: nine
    1.10: a version
    "": empty
    "\\u00e9\\U0001F600": [é, "\\U0001F600 \\uFFFD \\u2028 \\u0007 \\x7f </script>"]
    "\\uFB33": sorts behind the one before, by code units
    text: |
      Two lines

        of text
    folded: >-
      one
      line
  again: [*extra, {}, [], ]
`;

/** Returns a document of each type with scalars and keys of every kind. */
export function listScalarDocuments(): { type: DefinitionType; yaml: string }[] {
  return DEFINITION_TYPES.map((type) => ({
    type,
    yaml: `# comment\n${type}:\n  interface: {version: 1.0.0, name: scalars}${EXTRA}`,
  }));
}

/** Returns the same random documents on every call, with anchors and in every YAML style. */
export function listRandomDocuments(): { type: DefinitionType; yaml: string }[] {
  return Array.from({ length: RANDOM_DOCUMENTS }, (_, at) => {
    const chance = new Chance(randomNumbers(SEED + at));
    const { type, root } = randomDefinition(chance);
    const pieces = writeDocument(chance, root);
    return { type, yaml: pieces.map(({ text }) => text).join("") };
  });
}
