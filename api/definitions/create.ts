/** Creates a draft from a document, and its line if the name is new. */
import { type DefinitionName, distinctNames } from "../../shared/definitions/name.ts";
import { retryOnDeadlock } from "../../sql/connection/database_fault.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { countLines, upsertLines } from "../../sql/definitions/lines.ts";
import type { ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import type { DefinitionAddress } from "./address.ts";
import { type DefinitionDeps, requireDocument, workOf } from "./document.ts";
import type { CreateDefinition } from "./edit_bodies.ts";
import { requireStillWriter } from "./find_writable.ts";
import { addDraft, type Writer } from "./new_draft.ts";
import { readProvenance } from "./provenance.ts";
import { requireQuota } from "./quotas.ts";

/** Creates the draft. Throws QUOTA_EXCEEDED, VERSION_EXISTS, and as `requireDocument` does; nothing has changed then. */
export async function createDraft(
  { sql, documents }: Pick<DefinitionDeps, "sql" | "documents">,
  options: { writer: Writer; address: DefinitionAddress; body: CreateDefinition },
): Promise<ShownDefinitionRow> {
  const { writer, address, body } = options;
  const provenance = readProvenance(body.provenance ?? null);
  const { type, name } = address;
  const added = { type, name, yamlBytes: Buffer.byteLength(body.yaml) };
  await requireDraftQuota(sql, writer, [added]);
  const document = await requireDocument(workOf(documents, writer), body.yaml, address);
  const store = async (tx: Sql) => {
    await requireDraftQuota(tx, writer, [added]);
    const [line] = await upsertLines(tx, writer.org.orgId, [document]);
    await requireStillWriter(tx, writer);
    if (!line) throw new Error(`Cannot find the line of ${document.name} after its insert`);
    const visibility = body.visibility ?? "private";
    return addDraft(tx, writer, {
      lineId: line.id,
      document,
      visibility,
      provenance,
      action: "definition.create",
    });
  };
  return retryOnDeadlock(() => sql.begin(store));
}

/** Throws QUOTA_EXCEEDED if the organization has no room for these drafts and their lines. */
export async function requireDraftQuota(
  sql: Sql,
  { org }: Writer,
  added: readonly (DefinitionName & { yamlBytes: number })[],
): Promise<void> {
  const names = distinctNames(added);
  const lines = names.length - (await countLines(sql, org.orgId, names));
  const yamlBytes = added.reduce((sum, draft) => sum + draft.yamlBytes, 0);
  await requireQuota(sql, org, { drafts: added.length, lines, yamlBytes });
}
