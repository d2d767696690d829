import { expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { jsonSchemaOf } from "../../../../api/definitions/languages.ts";
import { parseDefinition } from "../../../../shared/definitions/parse_definition.ts";
import {
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_TYPES,
  type DefinitionType,
} from "../../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../../helpers/definitions/demo_definitions.ts";

const validators = Object.fromEntries(
  DEFINITION_TYPES.map((type) => [
    type,
    new Ajv2020({ strict: false }).compile(jsonSchemaOf(type, `https://ulr.example/schemas/${type}.json`)),
  ]),
);

function bothAccept(type: DefinitionType, document: unknown): [schema: boolean, service: boolean] {
  const yaml = JSON.stringify(document);
  return [validators[type]?.(document) ?? false, parseDefinition(yaml, { type }).ok];
}

test.each(readDemoDefinitions())("the schema accepts $file", ({ type, yaml }) => {
  expect(bothAccept(type, parsed(yaml, type).root)).toEqual([true, true]);
});

const odd = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.string({ maxLength: 8 }),
  fc.constant([]),
  fc.constant({}),
  fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }),
);
const often = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: odd });
const repeated = (from: number, to: number, unit: string) =>
  fc.integer({ min: from, max: to }).map((count) => unit.repeat(count));
const tags = fc.oneof(
  fc.uniqueArray(fc.oneof(fc.string({ maxLength: 5 }), fc.integer(), fc.boolean(), fc.constant(null)), {
    maxLength: 60,
    selector: (tag) => String(tag).trim(),
  }),
  fc
    .uniqueArray(fc.stringMatching(/^[a-z ]{0,4}$/), { maxLength: 60, selector: (tag) => tag.trim() })
    .map((all) => all.join(",")),
);

const declared = fc.record(
  {
    name: often(
      fc.constantFrom(
        "a",
        "a",
        "b",
        "c",
        "a-b",
        "-a",
        "A",
        "",
        "a".repeat(100),
        "a".repeat(101),
        "9",
        "6f1c2a34-0000-4000-8000-000000000001",
      ),
    ),
    version: often(
      fc.constantFrom(
        "1.0.0",
        "1.0",
        "01.0.0",
        "1.0.0-rc.1",
        "v1.0.0",
        "10.20.30",
        "999999999999999.0.0",
        "9007199254740992.0.0",
        "1.0.00000000000000000000",
      ),
    ),
    displayName: often(fc.oneof(fc.string(), repeated(190, 210, "é"), repeated(190, 210, "😀"))),
    description: often(fc.oneof(fc.string(), repeated(3_990, 4_010, "x"))),
    domain: often(fc.constantFrom(...DEFINITION_DOMAINS, "Software")),
    agentType: often(fc.constantFrom(...DEFINITION_AGENT_TYPES, "wizard")),
    tags: often(tags),
  },
  { requiredKeys: ["name", "version"] },
);

test.each(DEFINITION_TYPES)(
  "the JSON Schema for type %s accepts exactly the documents that the service accepts",
  (type) => {
    const outcomes = { accepted: 0, refused: 0 };
    const block = fc.record(
      { interface: often(declared), stages: odd, orchestration: odd, scoring: odd },
      { requiredKeys: [] },
    );
    const root = fc.record(
      { [type]: often(block), meta: odd, [type === "agent" ? "command" : "agent"]: odd },
      { requiredKeys: [type] },
    );
    const mostly = fc.oneof(
      { weight: 4, arbitrary: declared.map((one) => ({ [type]: { interface: one } })) },
      { weight: 1, arbitrary: often(root) },
    );
    fc.assert(
      fc.property(mostly, (document) => {
        const [schema, service] = bothAccept(type, document);
        outcomes[service ? "accepted" : "refused"]++;
        expect([schema, JSON.stringify(document)]).toEqual([service, JSON.stringify(document)]);
      }),
      { numRuns: 2_000, seed: 29 },
    );
    expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(100);
  },
);
