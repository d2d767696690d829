/** The `provenance` field: a definition's contributors and how they made it. */
import { type Static, Type } from "@sinclair/typebox";
import { parseInstant } from "../../shared/instant.ts";
import { Nullable, oneOf } from "../../shared/schemas.ts";
import { AUTHORSHIP_TYPES, CONTRIBUTOR_ROLES, CONTRIBUTOR_TYPES } from "../../shared/vocabulary.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
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

export const Provenance = Type.Object(
  {
    authorshipType: Type.Optional(oneOf(AUTHORSHIP_TYPES)),
    contributors: Type.Optional(Type.Array(Contributor, { minItems: 1, maxItems: 50 })),
    dialecticRounds: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    optimizationRunId: Type.Optional(Nullable(NAME)),
  },
  { title: "NewProvenance", additionalProperties: false },
);

/** Validates a provenance and returns it with times in canonical form. Throws VALIDATION_ERROR. */
export function readProvenance(provenance: Static<typeof Provenance> | null): DefinitionRow["provenance"] {
  if (provenance === null) return null;
  const problems: Problem[] = [];
  const contributors = provenance.contributors?.map((contributor, index) => {
    if (contributor.contributedAt === undefined) return contributor;
    const contributedAt = parseInstant(contributor.contributedAt);
    const path = `provenance.contributors.${index}.contributedAt`;
    if (contributedAt !== null) return { ...contributor, contributedAt };
    problems.push({ path, message: "must be an ISO 8601 time with an offset" });
    return contributor;
  });
  if (problems.length > 0) throw invalidInput(problems);
  const stored = { ...provenance, ...(contributors && { contributors }) };
  rejectUnstorable({ provenance: stored });
  return stored;
}
