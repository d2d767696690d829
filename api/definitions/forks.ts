/** POST …/fork, GET …/forkable, …/lineage and …/forks: definitions made from others. */
import { Elysia, t } from "elysia";
import { isLetterFirstName, NAME_RULE } from "../../shared/definitions/name.ts";
import { mayWriteDefinitions } from "../../shared/policy.ts";
import { DEFINITION_VISIBILITIES } from "../../shared/vocabulary.ts";
import { listForks, listLineage } from "../../sql/definitions/forks.ts";
import { countLineForks } from "../../sql/definitions/lines.ts";
import { access } from "../http/access.ts";
import { parseQuery, queryOf, rejectQuery } from "../http/query.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { conditionalJson } from "../http/response/conditional_json.ts";
import { oneOf } from "../http/schemas.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { DefinitionParams, parseReadAddress } from "./address.ts";
import type { DefinitionDeps } from "./document.ts";
import { findReadTarget, findTarget, requireDefinition, requireLine } from "./find_readable.ts";
import { findWriter } from "./find_writable.ts";
import { type ForkRequest, forkDefinition } from "./fork.ts";
import { findForkDenial, requireForkable } from "./forks/forkable.ts";
import { presentFork, presentNamedVersion } from "./forks/present_forks.ts";
import {
  FORK_DETAIL,
  FORKABLE_DETAIL,
  FORKABLE_QUERY,
  FORKS_DETAIL,
  LINEAGE_DETAIL,
} from "./openapi/forks.ts";
import { rejectLongFields, rejectUnstorable } from "./storable_text.ts";

/** Further back nobody looks. */
const MAX_LINEAGE = 100;
const MAX_FORKS_SHOWN = 1_000;

const ForkBody = t.Object(
  {
    name: t.String({
      description: "Name of the fork, not yet used in the organization",
      examples: ["my-reviewer"],
    }),
    visibility: t.Optional(oneOf(DEFINITION_VISIBILITIES)),
    displayName: t.Optional(t.String({ minLength: 1 })),
    description: t.Optional(t.String()),
    targetOrgSlug: t.Optional(
      t.String({
        deprecated: true,
        maxLength: 100,
        description: "The organization of the fork, for older clients. Use `X-Org-Slug`",
      }),
    ),
  },
  {
    title: "NewFork",
    additionalProperties: false,
    examples: [{ name: "my-reviewer", visibility: "private" }],
  },
);

export function forkRoutes(deps: DefinitionDeps) {
  const { sql } = deps;
  return new Elysia({ prefix: "/definitions/:type/:name" })
    .use(access)
    .post(
      "/fork",
      async ({ params, body, request, caller, status }) => {
        const address = parseReadAddress(params);
        rejectBody(body);
        const orgSlug = body.targetOrgSlug ?? null;
        const writer = await findWriter(sql, { caller, request, orgSlug });
        const source = await requireDefinition(sql, await findTarget(sql, address, writer.viewer));
        requireAllowed(mayWriteDefinitions(writer.org.role), writer.org);
        await requireForkable(sql, source, writer.viewer);
        const { definition, fork, warnings } = await forkDefinition(deps, { writer, source, wanted: body });
        return status(201, {
          data: {
            definition: definition.shown,
            fork: presentFork(fork),
            source: presentNamedVersion(source),
            warnings,
          },
        });
      },
      { access: "caller", params: DefinitionParams, body: ForkBody, detail: FORK_DETAIL },
    )
    .get(
      "/forkable",
      async ({ params, request, visitor }) => {
        const address = parseReadAddress(params);
        parseQuery(FORKABLE_QUERY, queryOf(request));
        const reason = await findForkDenial(sql, { address, visitor, request });
        const data = reason === null ? { canFork: true } : { canFork: false, reason };
        return conditionalJson(request, { data });
      },
      { publicAccess: true, params: DefinitionParams, detail: FORKABLE_DETAIL },
    )
    .get(
      "/lineage",
      async ({ params, request, visitor }) => {
        const address = parseReadAddress(params);
        rejectQuery(request);
        const target = await findReadTarget(sql, { address, visitor, request });
        const lineId = await requireLine(sql, target);
        const steps = await listLineage(sql, { lineId, ...target.scope, limit: MAX_LINEAGE });
        const chain = steps.map(({ sourceType, sourceName, sourceVersion, source }) => ({
          sourceType,
          sourceName,
          sourceVersion,
          source,
          sourceAvailable: source !== null,
        }));
        const [first] = steps;
        const fork = first ? presentFork(first) : null;
        const source = chain[0]?.source ?? null;
        return conditionalJson(request, { data: { isFork: fork !== null, fork, source, chain } });
      },
      { publicAccess: true, params: DefinitionParams, detail: LINEAGE_DETAIL },
    )
    .get(
      "/forks",
      async ({ params, request, visitor }) => {
        const address = parseReadAddress(params);
        rejectQuery(request);
        const target = await findReadTarget(sql, { address, visitor, request });
        const lineId = await requireLine(sql, target);
        const [found, totalForks] = await Promise.all([
          listForks(sql, { lineId, ...target.scope, limit: MAX_FORKS_SHOWN }),
          countLineForks(sql, lineId),
        ]);
        const forks = found.map(({ fork, definition }) => ({ fork: presentFork(fork), definition }));
        return conditionalJson(request, { data: { forks, totalForks } });
      },
      { publicAccess: true, params: DefinitionParams, detail: FORKS_DETAIL },
    );
}

function rejectBody({ name, displayName, description }: ForkRequest): void {
  rejectUnstorable({ displayName, description });
  rejectLongFields({ displayName, description });
  if (isLetterFirstName(name)) return;
  throw invalidInput([{ path: "name", message: `${NAME_RULE}, and start with a letter` }]);
}
