/** POST, PUT and DELETE /definitions/:type/:name: create, update and delete drafts. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { mayWriteDefinitions } from "../../shared/policy.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { retryOnDeadlock } from "../../sql/connection/retry_on_deadlock.ts";
import { deleteDraft } from "../../sql/definitions/changes.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { deleteEmptyLine, lockLine } from "../../sql/definitions/lines.ts";
import { access } from "../http/access.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { DefinitionParams, parseLineAddress, parseVersionAddress } from "./address.ts";
import { createDefinition } from "./create.ts";
import type { DefinitionDeps } from "./document.ts";
import { CreateBody, UpdateBody } from "./edit_bodies.ts";
import { changeVersion, findLineWriter, findWriter } from "./find_writable.ts";
import { auditOf } from "./new_draft.ts";
import { CREATE_DETAIL, DELETE_DETAIL, UPDATE_DETAIL } from "./openapi/edit.ts";
import { updateDefinition } from "./update_draft.ts";
import { listSameNames } from "./warnings/same_names.ts";

export function editRoutes(deps: DefinitionDeps) {
  const { sql } = deps;
  return new Elysia({ prefix: "/definitions/:type" })
    .use(access)
    .post(
      "/:name",
      async ({ params, body, request, caller, status }) => {
        const address = parseLineAddress(params);
        const writer = await findWriter(sql, { caller, request, orgSlug: address.orgSlug });
        requireAllowed(mayWriteDefinitions(writer.org.role), writer.org);
        const row = await createDefinition(deps, { writer, address, body });
        const warnings = [...(await listSameNames(sql, writer, [address])).values()];
        return status(201, { data: row.shown, ...(warnings.length > 0 && { warnings }) });
      },
      { access: "caller", params: DefinitionParams, body: CreateBody, detail: CREATE_DETAIL },
    )
    .put(
      "/:name",
      async ({ params, body, request, caller }) => {
        const asked = parseVersionAddress(params);
        const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
        const { row, warnings } = await updateDefinition(deps, { writer, address, body: body ?? {} });
        return { data: row.shown, warnings };
      },
      { access: "caller", params: DefinitionParams, body: t.Optional(UpdateBody), detail: UPDATE_DETAIL },
    )
    .delete(
      "/:name",
      async ({ params, request, caller }) => {
        const asked = parseVersionAddress(params);
        const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
        await deleteDefinition(sql, { writer, address });
        const { type, name, version } = address;
        return { data: { deleted: true, type, name, version } };
      },
      { access: "caller", params: DefinitionParams, detail: DELETE_DETAIL },
    );
}

/** Deletes a draft, and with the last version of a line the line, so that its name is free again. */
async function deleteDefinition(sql: Pool, given: Parameters<typeof changeVersion>[1]): Promise<void> {
  const remove = async (tx: Sql, row: DefinitionRow) => {
    // Every writer of a line locks it first: the triggers of its versions need it.
    await lockLine(tx, row.lineId);
    if (!(await deleteDraft(tx, row.id))) {
      throw new ApiError("NOT_DELETABLE", {
        message: `Cannot delete ${row.type} "${row.name}@${row.version}": its status is '${row.status}', and only drafts can be deleted`,
        details: { status: row.status },
      });
    }
    await deleteEmptyLine(tx, row.lineId);
    await insertAuditEntry(tx, auditOf(given.writer, row, "definition.delete"));
  };
  // The last version of a fork also locks the line of its source; batches lock lines in another order.
  await retryOnDeadlock(() => changeVersion(sql, given, remove));
}
