/** DELETE /definitions/{type}/{name}: deletes a draft, and with the last version of a line the line, so that its name is free again. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { deleteEmptyLine, lockLine } from "../../sql/definitions/lines.ts";
import { deleteDraft } from "../../sql/definitions/version_changes.ts";
import { operation, reply } from "../http/operation.ts";
import { data } from "../http/schemas.ts";
import { changeVersion, findVersionWriter } from "./find_writable.ts";
import { auditOf } from "./new_draft.ts";
import { LINE_WRITE_FAILURES, VersionNeeded, WRITE } from "./schemas.ts";

export const deleteDefinition = operation(
  {
    ...WRITE,
    id: "deleteDefinition",
    method: "DELETE",
    path: "/api/v1/definitions/{type}/{name}",
    summary: "Delete a draft",
    description:
      "Deletes the draft. If it was the last version, the name becomes free again. Published versions cannot be deleted.",
    params: VersionNeeded,
    response: {
      200: data(
        {
          deleted: Type.Boolean({ examples: [true] }),
          type: Type.String({ examples: ["agent"] }),
          name: Type.String({ examples: ["reviewer"] }),
          version: Type.String({ examples: ["1.0.0"] }),
        },
        "Deleted",
      ),
    },
    fails: [...LINE_WRITE_FAILURES, "NOT_DELETABLE"],
  },
  async ({ params, caller, request }, deps) => {
    const write = await findVersionWriter(deps, { params, caller, request });
    await changeVersion(deps.sql, write, async (tx, row) => {
      // Every writer of a line locks it first: the triggers of its versions need it.
      await lockLine(tx, row.lineId);
      if (!(await deleteDraft(tx, row.id))) {
        throw new ApiError("NOT_DELETABLE", {
          message: TEXTS.NOT_DELETABLE.version(row, row.status),
          details: { status: row.status },
        });
      }
      // The last version of a fork also locks the line of its source.
      await deleteEmptyLine(tx, row.lineId);
      await insertAuditEntry(tx, auditOf(write.writer, row, "definition.delete"));
    });
    const { type, name, version } = write.address;
    return reply(200, { data: { deleted: true, type, name, version } });
  },
);
