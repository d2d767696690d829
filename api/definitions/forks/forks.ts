/** GET …/lineage and …/forks: where a definition came from, and what came of it. */
import { Type } from "@sinclair/typebox";
import { DEFINITION_FIELDS, NAMED_FIELDS } from "../../../sql/definitions/fields.ts";
import { listForks as listForkRows, listLineage } from "../../../sql/definitions/forks.ts";
import { countLineForks } from "../../../sql/definitions/lines.ts";
import { operation, reply } from "../../http/operation.ts";
import { Count, data, dataOf, Instant, listOf, Nullable } from "../../http/schemas.ts";
import { parseReadAddress } from "../address.ts";
import { findReadTarget, requireLine } from "../find_visible.ts";
import { LineOrVersion, objectOf, READ, TypeName } from "../schemas.ts";

/** Further back nobody looks. */
const MAX_LINEAGE = 100;
const MAX_FORKS_SHOWN = 1_000;

const { id, displayName } = DEFINITION_FIELDS;

export const EXAMPLE_FORK = {
  id: "3c1f0a52-5c7e-4d0b-9f57-0d6f4a1b0004",
  definitionId: "6f1b2c3d-7e8f-4a9b-8c0d-1e2f3a4b0005",
  sourceDefinitionId: id.example,
  forkedAt: "2026-11-20T10:00:00.000Z",
};
export const EXAMPLE_FORKED = {
  id: EXAMPLE_FORK.definitionId,
  type: "agent",
  name: "my-reviewer",
  version: "1.0.0",
  authorId: "5b0c4f9e-8f4e-4c53-9a57-6a3d0b1c0006",
  orgId: "9a1d2e3f-1b2c-4d3e-8f4a-5b6c7d8e0007",
};

const Id = Type.String({ format: "uuid" });
export const Fork = Type.Object(
  {
    id: Id,
    definitionId: Type.String({ format: "uuid", description: "The first version of the fork" }),
    sourceDefinitionId: Nullable(Id, {
      description: "The forked version, which may have been deleted; null if you cannot see it",
    }),
    forkedAt: Instant(),
  },
  { title: "Fork", examples: [EXAMPLE_FORK] },
);
export const ForkSource = objectOf(NAMED_FIELDS, "ForkSource");

const LineageStep = Type.Object(
  {
    sourceType: TypeName,
    sourceName: Nullable(Type.String({ examples: ["reviewer"] }), {
      description:
        "Name at the time of the fork. Name and version are null if you cannot see the source, or if it was deleted and " +
        "you are not a member of its organization",
    }),
    sourceVersion: Nullable(Type.String({ examples: ["1.0.0"] })),
    source: Nullable(ForkSource, { description: "Null if it was deleted or you cannot see it" }),
    sourceAvailable: Type.Boolean({ examples: [true] }),
  },
  { title: "LineageStep" },
);
const Lineage = Type.Object(
  {
    isFork: Type.Boolean({ examples: [true] }),
    fork: Nullable(Fork),
    source: Nullable(ForkSource, { description: "Null if this is no fork, or the source is unavailable" }),
    chain: listOf(LineageStep, {
      maxItems: 100,
      description: "Nearest source first, up to the first one you cannot see",
    }),
  },
  { title: "Lineage" },
);

export const getLineage = operation(
  {
    ...READ,
    id: "getLineage",
    path: "/api/v1/definitions/{type}/{name}/lineage",
    summary: "Get the lineage of a fork",
    description: "Returns the source of the fork, the source of that, and so on, as far as you can see them.",
    params: LineOrVersion,
    response: { 200: dataOf(Lineage, "The lineage") },
  },
  async ({ params, caller, request }, { sql }) => {
    const target = await findReadTarget(sql, parseReadAddress(params), { caller, request });
    const lineId = await requireLine(sql, target);
    const steps = await listLineage(sql, { lineId, viewer: target.viewer, limit: MAX_LINEAGE });
    const chain = steps.map(({ step }) => ({ ...step, sourceAvailable: step.source !== null }));
    const fork = steps[0]?.fork ?? null;
    const source = chain[0]?.source ?? null;
    return reply(200, { data: { isFork: fork !== null, fork, source, chain } });
  },
);

const ForkedDefinition = Type.Object(
  { fork: Fork, definition: objectOf({ ...NAMED_FIELDS, displayName }) },
  {
    title: "ForkedDefinition",
    examples: [{ fork: EXAMPLE_FORK, definition: { ...EXAMPLE_FORKED, displayName: "My reviewer" } }],
  },
);

export const listForks = operation(
  {
    ...READ,
    id: "listForks",
    path: "/api/v1/definitions/{type}/{name}/forks",
    summary: "List the forks of a definition",
    description:
      "Lists the newest forks first, at most 1,000 of the newest 10,000. Forks that you would not find in a list are counted " +
      "in `totalForks` but left out.",
    params: LineOrVersion,
    response: {
      200: data({ forks: listOf(ForkedDefinition), totalForks: Count }, "The forks of all its versions"),
    },
  },
  async ({ params, caller, request }, { sql }) => {
    const target = await findReadTarget(sql, parseReadAddress(params), { caller, request });
    const lineId = await requireLine(sql, target);
    const [forks, totalForks] = await Promise.all([
      listForkRows(sql, { lineId, viewer: target.viewer, limit: MAX_FORKS_SHOWN }),
      countLineForks(sql, lineId),
    ]);
    return reply(200, { data: { forks, totalForks } });
  },
);
