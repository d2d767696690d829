/** PUT /definitions/{type}/{name}: updates the document, document fields or settings of a draft. */
import { type Static, Type } from "@sinclair/typebox";
import type { DefinitionChanges } from "../../shared/definitions/edit.ts";
import { MAX_LENGTHS, MAX_TAGS } from "../../shared/definitions/interface_fields.ts";
import { allowsOperation } from "../../shared/definitions/lifecycle.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { maySetDefinitionTier } from "../../shared/policy.ts";
import { Nullable, oneOf, requestBody } from "../../shared/schemas.ts";
import {
  CHANGE_TYPES,
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_TIERS,
  DEFINITION_VISIBILITIES,
} from "../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { DefinitionContent, DefinitionRow } from "../../sql/definitions/fields.ts";
import type { DefinitionQuotas } from "../../sql/definitions/quotas.ts";
import { replaceDefinitionReferences } from "../../sql/definitions/references.ts";
import { updateDraft } from "../../sql/definitions/version_changes.ts";
import type { ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import type { DocumentWork } from "../documents/documents.ts";
import { operation, reply } from "../http/operation.ts";
import { choice, text, texts } from "../http/query.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { rejectUnstorable } from "../http/storable_text.ts";
import { invalidField } from "../http/validation_problems.ts";
import {
  type DefinitionDeps,
  type EditedDocument,
  editDocument,
  rejectLongFields,
  requireDocument,
  type WrittenDocument,
} from "./document.ts";
import { findVersionWriter, lockVersion, requireOwnLine, type VersionWrite } from "./find_writable.ts";
import { auditOf, naturalTier, requireRow, type Writer } from "./new_draft.ts";
import { ExpectedUpdatedAt, requireUnchanged, writeOptimistically } from "./optimistic_write.ts";
import { Provenance, readProvenance } from "./provenance.ts";
import { countUsedQuotas, requireRoom } from "./quotas.ts";
import {
  Definition,
  DOCUMENT_FAILURES,
  dataAndWarnings,
  LINE_WRITE_FAILURES,
  VersionNeeded,
  type Warning,
  WRITE,
  withWarnings,
} from "./schemas.ts";

const DefinitionUpdate = requestBody(
  "DefinitionUpdate",
  {
    yaml: Type.Optional(Type.String()),
    visibility: Type.Optional(oneOf(DEFINITION_VISIBILITIES)),
    displayName: Type.Optional(Type.String({ minLength: 1 })),
    description: Type.Optional(Type.String()),
    domain: Type.Optional(oneOf(DEFINITION_DOMAINS)),
    subdomain: Type.Optional(Type.String({ maxLength: MAX_LENGTHS.subdomain })),
    agentType: Type.Optional(oneOf(DEFINITION_AGENT_TYPES)),
    tags: Type.Optional(Type.Array(Type.String({ maxLength: MAX_LENGTHS.tags }), { maxItems: MAX_TAGS })),
    provenance: Type.Optional(Nullable(Provenance)),
    changeSummary: Type.Optional(Type.String({ maxLength: 2000 })),
    changeType: Type.Optional(oneOf(CHANGE_TYPES)),
    tier: Type.Optional(oneOf(DEFINITION_TIERS)),
    minSubscription: Type.Optional(
      Type.Unknown({ deprecated: true, description: "Ignored: older clients send it" }),
    ),
    expectedUpdatedAt: ExpectedUpdatedAt,
  },
  { description: "Reviews a change before it is merged.", tags: ["review"], changeType: "patch" },
);

type DefinitionUpdate = Static<typeof DefinitionUpdate>;

const MAX_TEXT_LENGTH = 4000;

/** Query parameters of an update whose body is YAML. */
const UPDATE_YAML_QUERY = {
  visibility: choice(DEFINITION_VISIBILITIES, "Visibility of the definition"),
  displayName: text(MAX_TEXT_LENGTH, "Display name"),
  description: text(MAX_TEXT_LENGTH, "Description"),
  domain: choice(DEFINITION_DOMAINS, "Domain"),
  subdomain: text(MAX_LENGTHS.subdomain, "Subdomain"),
  agentType: choice(DEFINITION_AGENT_TYPES, "Agent type"),
  tags: texts({ maxItems: MAX_TAGS, maxLength: MAX_LENGTHS.tags }, "Tags"),
  changeSummary: text(2000, "What has changed"),
  changeType: choice(CHANGE_TYPES, "Change type"),
  tier: choice(DEFINITION_TIERS, "Tier"),
  expectedUpdatedAt: text(
    40,
    "`updatedAt` as you read it. If the draft has changed since, nothing is written",
  ),
};

export const updateDefinition = operation(
  {
    ...WRITE,
    id: "updateDefinition",
    method: "PUT",
    path: "/api/v1/definitions/{type}/{name}",
    summary: "Update a draft",
    description:
      "Changes the fields in the body. Fields that are part of the YAML are written into it; all its other bytes stay. " +
      "`warnings` names aliases that had to be replaced by their text. Only drafts can be changed.",
    params: VersionNeeded,
    body: DefinitionUpdate,
    yamlQuery: UPDATE_YAML_QUERY,
    response: { 200: dataAndWarnings(Definition, "The updated draft") },
    fails: [
      ...LINE_WRITE_FAILURES,
      ...DOCUMENT_FAILURES,
      "QUOTA_EXCEEDED",
      "EDIT_CONFLICT",
      "NOT_EDITABLE",
      "ROLE_REQUIRED",
      "VERSION_MISMATCH",
    ],
  },
  async ({ params, body, caller, request }, deps) => {
    const write = await findVersionWriter(deps, { params, caller, request });
    const { row, warnings } = await updateVersion(deps, { ...write, body });
    return reply(200, withWarnings(row.shown, warnings));
  },
);

/** Fields of the body that are part of the document. */
const DOCUMENT_FIELDS = ["displayName", "description", "domain", "subdomain", "agentType", "tags"] as const;

/** Fields that a workflow's document cannot contain. They are stored only in columns. */
const WORKFLOW_COLUMNS: readonly string[] = ["subdomain", "tags"];

/** Updates a draft. Throws NOT_EDITABLE, EDIT_CONFLICT, and the errors of `requireDocument`. Stores nothing on an error. */
export async function updateVersion(
  { sql, documents }: DefinitionDeps,
  options: VersionWrite & { body: DefinitionUpdate },
): Promise<{ row: ShownDefinitionRow; warnings: Warning[] }> {
  const { writer, address, body } = options;
  const lineId = await requireOwnLine(sql, writer, address);
  const work = documents.forCaller(writer.caller.userId);
  const requireBytes = ({ row, used }: { row: DefinitionRow; used: DefinitionQuotas }, yaml: string) => {
    const yamlBytes = Buffer.byteLength(yaml) - Buffer.byteLength(row.yaml);
    if (yamlBytes > 0) requireRoom(writer.org, used, { drafts: 0, lines: 0, yamlBytes });
  };
  return writeOptimistically(sql, writer, {
    load: async (on) => {
      const used = await countUsedQuotas(on, writer.org);
      const row = await lockVersion(on, lineId, address);
      if (!allowsOperation(row.status, "update")) {
        const message = TEXTS.NOT_EDITABLE(row, row.status);
        throw new ApiError("NOT_EDITABLE", { message, details: { status: row.status } });
      }
      requireUnchanged(row, body.expectedUpdatedAt);
      return { row, used };
    },
    prepare: async (seen) => {
      rejectBody(writer, body);
      if (body.yaml !== undefined) requireBytes(seen, body.yaml);
      return changeDocument(work, seen.row, body);
    },
    isStale: (seen, locked) => seen.row.yaml !== locked.row.yaml,
    apply: async (tx, locked, edited) => {
      const { document = null, warnings = [] } = edited ?? {};
      if (document) requireBytes(locked, document.content.yaml);
      await storeDraft(tx, { row: locked.row, body, document });
      await insertAuditEntry(tx, auditOf(writer, locked.row, "definition.update"));
      return { row: await requireRow(tx, locked.row.id, writer), warnings };
    },
  });
}

async function storeDraft(
  tx: Sql,
  options: { row: DefinitionRow; body: DefinitionUpdate; document: WrittenDocument | null },
): Promise<void> {
  const { row, body, document } = options;
  if (document) await replaceDefinitionReferences(tx, row.id, document.references);
  const changed = await updateDraft(tx, {
    id: row.id,
    ...(document?.content ?? row),
    ...columnsOf(row, body),
    visibility: body.visibility ?? row.visibility,
    tier: body.tier ?? row.tier,
    provenance: body.provenance === undefined ? row.provenance : readProvenance(body.provenance),
    changeSummary: body.changeSummary ?? row.changeSummary,
    changeType: body.changeType ?? row.changeType,
  });
  if (!changed) throw new Error(`Cannot update definition ${row.id}, which is locked and a draft`);
}

/** Checks the body before its document is parsed. */
function rejectBody(writer: Writer, body: DefinitionUpdate): void {
  const { displayName, description, subdomain, tags, changeSummary } = body;
  rejectUnstorable({ displayName, description, subdomain, tags, changeSummary });
  rejectLongFields({ displayName, description, tags: tags && normalizeTags(tags).join("") });
  requireTierRole(writer, body.tier);
  readProvenance(body.provenance ?? null);
}

/** Checks that the caller may set a tier. The organization determines `user` or `org`; `pro` requires a platform administrator. */
function requireTierRole({ caller, org }: Writer, tier: DefinitionUpdate["tier"]): void {
  if (tier === undefined) return;
  requireAllowed(maySetDefinitionTier({ tier, platformRole: caller.platformRole }));
  const natural = naturalTier(org);
  if (tier === "pro" || tier === natural) return;
  throw invalidField("tier", `must be ${natural} in this organization, or pro`);
}

/** Returns the new document of the draft, or null if it stays unchanged. */
async function changeDocument(
  work: DocumentWork,
  row: DefinitionRow,
  body: DefinitionUpdate,
): Promise<EditedDocument | null> {
  const changes = documentChanges(row, body);
  const given = body.yaml === undefined ? null : await requireDocument(work, body.yaml, row);
  if (given && given.version !== row.version) {
    const details = { documentVersion: given.version, pathVersion: row.version };
    throw new ApiError("VERSION_MISMATCH", { details });
  }
  if (Object.keys(changes).length > 0)
    return editDocument(work, { yaml: body.yaml ?? row.yaml, changes }, row);
  return given === null ? null : { document: given, warnings: [] };
}

function documentChanges(row: DefinitionRow, body: DefinitionUpdate): DefinitionChanges {
  const fields = DOCUMENT_FIELDS.filter(
    (field) => body[field] !== undefined && !(row.type === "workflow" && WORKFLOW_COLUMNS.includes(field)),
  );
  return Object.fromEntries(fields.map((field) => [field, body[field]]));
}

/** Returns the columns that a workflow's document does not contain. Fields missing from the body stay unchanged. */
function columnsOf(row: DefinitionRow, body: DefinitionUpdate): Partial<DefinitionContent> {
  if (row.type !== "workflow") return {};
  const subdomain = body.subdomain === undefined ? row.subdomain : body.subdomain.trim() || null;
  return { subdomain, tags: normalizeTags(body.tags ?? row.tags) };
}

function normalizeTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}
