/** POST /definitions/validate and /definitions/batch: documents that are tried, or stored together. */
import { Elysia, t } from "elysia";
import { mayWriteDefinitions } from "../../../shared/policy.ts";
import { DEFINITION_TYPES, DEFINITION_VISIBILITIES } from "../../../shared/vocabulary.ts";
import { EXAMPLE_YAML } from "../../../sql/definitions/fields.ts";
import { access } from "../../http/access.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { oneOf } from "../../http/schemas.ts";
import { invalidInput } from "../../http/validation_problems.ts";
import { nextTurn } from "../../http/yield_event_loop.ts";
import { parseLineAddress } from "../address.ts";
import { findWriter } from "../find_writable.ts";
import { BATCH_DETAIL, VALIDATE_DETAIL } from "../openapi/batch.ts";
import { Provenance, readProvenance } from "../provenance.ts";
import type { PublishDeps } from "../publish.ts";
import { splitStream } from "./stream.ts";
import type { Submission } from "./submission.ts";
import { storeBatch, tryBatch } from "./submit.ts";
import type { WrittenItem } from "./write_batch.ts";

const Visibility = t.Optional(oneOf(DEFINITION_VISIBILITIES));

const ValidateBody = t.Object(
  {
    type: oneOf(DEFINITION_TYPES),
    yaml: t.String({ examples: [EXAMPLE_YAML] }),
    name: t.Optional(t.String({ description: "`name` or `@org/name`. Default: the name in the YAML" })),
    publish: t.Optional(t.Boolean()),
    visibility: Visibility,
  },
  {
    title: "Validation",
    additionalProperties: false,
    examples: [{ type: "agent", yaml: EXAMPLE_YAML, publish: true }],
  },
);

/** Documents of one batch. */
export const MAX_BATCH_DOCUMENTS = 200;

const BatchBody = t.Object(
  {
    definitions: t.Optional(
      t.Array(
        t.Object(
          { yaml: t.String(), visibility: Visibility, provenance: t.Optional(t.Nullable(Provenance)) },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: MAX_BATCH_DOCUMENTS },
      ),
    ),
    yaml: t.Optional(t.String({ description: "A YAML stream, instead of `definitions`" })),
    publish: t.Optional(t.Boolean()),
    validate: t.Optional(t.Boolean({ description: "Store nothing; return what would happen" })),
    visibility: Visibility,
  },
  {
    title: "Batch",
    additionalProperties: false,
    examples: [{ definitions: [{ yaml: EXAMPLE_YAML }], publish: true, validate: true }],
  },
);

export function batchRoutes(deps: PublishDeps) {
  const { sql } = deps;
  return new Elysia({ prefix: "/definitions" })
    .use(access)
    .post(
      "/validate",
      async ({ body, request, caller }) => {
        const { type, yaml, name, publish = false, visibility = "private" } = body;
        const address = name === undefined ? null : parseLineAddress({ type, name });
        const writer = await findWriter(sql, { caller, request, orgSlug: address?.orgSlug ?? null });
        const submission = {
          yaml,
          type,
          name: address?.name ?? null,
          visibility,
          provenance: null,
          firstLine: 1,
        };
        const given = { writer, request, submissions: [submission], publish, rejectsCircles: false };
        const [tried] = await tryBatch(deps, given);
        return { data: tried?.report };
      },
      { access: "caller", body: ValidateBody, detail: VALIDATE_DETAIL },
    )
    .post(
      "/batch",
      async ({ body, request, caller }) => {
        const { publish = false } = body;
        const submissions = await listSubmissions(body);
        const writer = await findWriter(sql, { caller, request });
        requireAllowed(mayWriteDefinitions(writer.org.role), writer.org);
        const given = { writer, request, submissions, publish };
        if (!body.validate) return respond(201, (await storeBatch(deps, given)).map(presentWritten));
        const tried = await tryBatch(deps, { ...given, rejectsCircles: !publish });
        const definitions = tried.map(({ item: { index, document }, report }) => {
          return { index, type: document?.type ?? null, name: document?.name ?? null, ...report };
        });
        return respond(200, definitions, { valid: definitions.every(({ valid }) => valid) });
      },
      { access: "caller", body: BatchBody, detail: BATCH_DETAIL },
    );
}

/** Writes each definition in a turn of its own: thousands of references make megabytes of warnings. */
async function respond(status: number, definitions: readonly object[], more: object = {}): Promise<Response> {
  const texts: string[] = [];
  for (const definition of definitions) {
    texts.push(JSON.stringify(definition));
    await nextTurn();
  }
  const empty = JSON.stringify({ data: { ...more, definitions: [] } });
  const body = empty.replace("[]", () => `[${texts.join(",")}]`);
  return new Response(body, { status, headers: { "Content-Type": "application/json" } });
}

function presentWritten({ item, row, warnings }: WrittenItem) {
  const { id, type, name, version, status, visibility, hash } = row;
  return { index: item.index, id, type, name, version, status, visibility, hash, warnings };
}

/** Returns the documents of a body. Throws VALIDATION_ERROR. */
async function listSubmissions(body: typeof BatchBody.static): Promise<Submission[]> {
  const { definitions, yaml, visibility = "private" } = body;
  if (definitions === undefined && yaml === undefined)
    throw invalidInput([{ path: "definitions", message: "is required, unless there is yaml" }]);
  if (definitions !== undefined && yaml !== undefined)
    throw invalidInput([{ path: "yaml", message: "must not be there beside definitions. Send one of them" }]);
  const any = { type: null, name: null };
  if (definitions) {
    return definitions.map((given) => ({
      ...any,
      yaml: given.yaml,
      visibility: given.visibility ?? visibility,
      provenance: readProvenance(given.provenance ?? null),
      firstLine: 1,
    }));
  }
  const documents = await splitStream(yaml ?? "");
  if (documents.length === 0 || documents.length > MAX_BATCH_DOCUMENTS) {
    const message = `must have 1 to ${MAX_BATCH_DOCUMENTS} documents, but has ${documents.length}`;
    throw invalidInput([{ path: "yaml", message }]);
  }
  return documents.map((document) => ({ ...any, ...document, visibility, provenance: null }));
}
