/** `provenance`: the contributors of a definition, and how it was made. */
import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { parseAsOf } from "../../shared/as_of.ts";
import { AUTHORSHIP_TYPES, CONTRIBUTOR_ROLES, CONTRIBUTOR_TYPES } from "../../shared/vocabulary.ts";
import { oneOf } from "../http/schemas.ts";
import { invalidInput, type Problem } from "../http/validation_problems.ts";
import { rejectUnstorable } from "./storable_text.ts";

const NAME = t.String({ minLength: 1, maxLength: 200 });

const Contributor = t.Object(
  {
    id: t.Optional(NAME),
    role: oneOf(CONTRIBUTOR_ROLES),
    type: oneOf(CONTRIBUTOR_TYPES),
    name: t.Optional(t.Nullable(NAME)),
    agentName: t.Optional(t.Nullable(NAME)),
    contributedAt: t.Optional(t.String({ description: "ISO 8601 time with an offset" })),
  },
  { additionalProperties: false },
);

/** 1 to 50 contributors. */
export const Provenance = t.Object(
  {
    authorshipType: oneOf(AUTHORSHIP_TYPES),
    contributors: t.Optional(t.Array(Contributor, { minItems: 1, maxItems: 50 })),
    dialecticRounds: t.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    optimizationRunId: t.Optional(t.Nullable(NAME)),
  },
  { additionalProperties: false },
);

/** Returns it with times in canonical form. Throws VALIDATION_ERROR. */
export function readProvenance(given: typeof Provenance.static | null): object | null {
  if (given === null) return null;
  const { authorshipType, contributors, dialecticRounds, optimizationRunId } = given;
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

function readContributor(given: typeof Contributor.static, index: number, problems: Problem[]): object {
  const { id, role, type, name, agentName } = given;
  const contributedAt = given.contributedAt === undefined ? undefined : parseAsOf(given.contributedAt);
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
