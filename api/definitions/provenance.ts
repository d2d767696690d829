/** `provenance`: the contributors of a definition, and how it was made. */
import { type Static, Type } from "@sinclair/typebox";
import { parseInstant } from "../../shared/instant.ts";
import { AUTHORSHIP_TYPES, CONTRIBUTOR_ROLES, CONTRIBUTOR_TYPES } from "../../shared/vocabulary.ts";
import { Nullable, oneOf } from "../http/schemas.ts";
import { rejectUnstorable } from "../http/storable_text.ts";
import { invalidInput, type Problem } from "../http/validation_problems.ts";

const NAME = Type.String({ minLength: 1, maxLength: 200 });

const Contributor = Type.Object(
  {
    id: Type.Optional(NAME),
    role: oneOf(CONTRIBUTOR_ROLES),
    type: oneOf(CONTRIBUTOR_TYPES),
    name: Type.Optional(Nullable(NAME)),
    agentName: Type.Optional(Nullable(NAME)),
    contributedAt: Type.Optional(Type.String({ description: "ISO 8601 time with an offset" })),
  },
  { title: "NewContributor", additionalProperties: false },
);

/** 1 to 50 contributors. */
export const Provenance = Type.Object(
  {
    authorshipType: oneOf(AUTHORSHIP_TYPES),
    contributors: Type.Optional(Type.Array(Contributor, { minItems: 1, maxItems: 50 })),
    dialecticRounds: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    optimizationRunId: Type.Optional(Nullable(NAME)),
  },
  { title: "NewProvenance", additionalProperties: false },
);

/** Returns it with times in canonical form. Throws VALIDATION_ERROR. */
export function readProvenance(options: Static<typeof Provenance> | null): object | null {
  if (options === null) return null;
  const { authorshipType, contributors, dialecticRounds, optimizationRunId } = options;
  const problems: Problem[] = [];
  const stored = {
    authorshipType,
    contributors: contributors?.map((contributor, index) => readContributor(contributor, index, problems)),
    dialecticRounds,
    optimizationRunId,
  };
  if (problems.length > 0) throw invalidInput(problems);
  rejectUnstorable({ provenance: stored });
  return withoutUndefined(stored);
}

function readContributor(options: Static<typeof Contributor>, index: number, problems: Problem[]): object {
  const { id, role, type, name, agentName } = options;
  const contributedAt = options.contributedAt === undefined ? undefined : parseInstant(options.contributedAt);
  if (contributedAt === null) {
    problems.push({
      path: `provenance.contributors.${index}.contributedAt`,
      message: "must be an ISO 8601 time with an offset",
    });
  }
  return withoutUndefined({ id, role, type, name, agentName, contributedAt });
}

function withoutUndefined(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
