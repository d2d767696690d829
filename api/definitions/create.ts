/** POST /definitions/{type}/{name}: creates a draft from a document, and a line if the name is new. */
import { type Static, Type } from "@sinclair/typebox";
import { type DefinitionName, distinctNames } from "../../shared/definitions/name.ts";
import { mayWriteDefinitions } from "../../shared/policy.ts";
import { Nullable, oneOf, requestBody } from "../../shared/schemas.ts";
import { DEFINITION_VISIBILITIES } from "../../shared/vocabulary.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { countLines, upsertLines } from "../../sql/definitions/definition_lines.ts";
import { EXAMPLE_YAML } from "../../sql/definitions/fields.ts";
import type { ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import { operation, reply } from "../http/operation.ts";
import { choice } from "../http/query.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { type DefinitionAddress, parseLineAddress } from "./address.ts";
import { type DefinitionDeps, requireDocument } from "./document.ts";
import { findWriter, requireStillWriter, runWrite } from "./find_writable.ts";
import { addDraft, type Writer } from "./new_draft.ts";
import { Provenance, readProvenance } from "./provenance.ts";
import { requireQuota } from "./quotas.ts";
import {
  Definition,
  DOCUMENT_FAILURES,
  dataAndWarnings,
  NewName,
  WRITE,
  WRITE_FAILURES,
  withWarnings,
} from "./schemas.ts";
import { listSameNames } from "./warnings.ts";

const NewDefinition = requestBody(
  "NewDefinition",
  {
    yaml: Type.String({ examples: [EXAMPLE_YAML] }),
    visibility: Type.Optional(oneOf(DEFINITION_VISIBILITIES)),
    provenance: Type.Optional(Nullable(Provenance)),
  },
  { yaml: EXAMPLE_YAML, visibility: "public" },
);

export const createDefinition = operation(
  {
    ...WRITE,
    id: "createDefinition",
    path: "/api/v1/definitions/{type}/{name}",
    summary: "Create a draft",
    description:
      "Name, version and everything else that a definition says of itself come from the document. It is translated at " +
      "once, so that its author sees `runtimeMd`, or `translationError`. If the request names no organization, and you can " +
      "write a definition of this name in another one too, `warnings` says so.",
    params: NewName,
    body: NewDefinition,
    yamlQuery: { visibility: choice(DEFINITION_VISIBILITIES, "Visibility of the definition") },
    response: { 201: dataAndWarnings(Definition, "The draft") },
    fails: [...WRITE_FAILURES, ...DOCUMENT_FAILURES, "VERSION_EXISTS", "QUOTA_EXCEEDED"],
  },
  async ({ params, body, caller, request }, deps) => {
    const address = parseLineAddress(params);
    const writer = await findWriter(deps, { caller, request, orgSlug: address.orgSlug });
    requireAllowed(mayWriteDefinitions(writer.org.role), writer.org);
    const row = await createDraft(deps, { writer, address, body });
    const warnings = [...(await listSameNames(deps.sql, writer, [address])).values()];
    return reply(201, withWarnings(row.shown, warnings));
  },
);

/** Creates a draft. Throws QUOTA_EXCEEDED, VERSION_EXISTS, and the errors of `requireDocument`. Stores nothing on an error. */
export async function createDraft(
  { sql, documents }: Pick<DefinitionDeps, "sql" | "documents">,
  options: { writer: Writer; address: DefinitionAddress; body: Static<typeof NewDefinition> },
): Promise<ShownDefinitionRow> {
  const { writer, address, body } = options;
  const provenance = readProvenance(body.provenance ?? null);
  const { type, name } = address;
  const added = { type, name, yamlBytes: Buffer.byteLength(body.yaml) };
  await writer.inTurn(() => requireDraftQuota(sql, writer, [added]));
  const document = await requireDocument(documents.forCaller(writer.caller.userId), body.yaml, address);
  return runWrite(sql, writer, async (tx) => {
    await requireDraftQuota(tx, writer, [added]);
    const [line] = await upsertLines(tx, writer.org.orgId, [document]);
    await requireStillWriter(tx, writer);
    if (!line) throw new Error(`Cannot find the line of ${document.name} after its insert`);
    const visibility = body.visibility ?? "private";
    const draft = { lineId: line.id, document, visibility, provenance, action: "definition.create" } as const;
    return addDraft(tx, writer, draft);
  });
}

/** Throws QUOTA_EXCEEDED if adding these versions and their lines exceeds a quota. `drafts` is the number that stay drafts. */
export async function requireDraftQuota(
  sql: Sql,
  { org }: Writer,
  added: readonly (DefinitionName & { yamlBytes: number })[],
  drafts = added.length,
): Promise<void> {
  const names = distinctNames(added);
  const lines = names.length - (await countLines(sql, org.orgId, names));
  const yamlBytes = added.reduce((sum, draft) => sum + draft.yamlBytes, 0);
  await requireQuota(sql, org, { drafts, lines, yamlBytes });
}
