/** GET …/versions: how a definition came to be what it is. */
import { Type } from "@sinclair/typebox";
import { VERSION_FIELDS } from "../../sql/definitions/fields.ts";
import { listVersionHistory } from "../../sql/definitions/versions.ts";
import { operation, reply } from "../http/operation.ts";
import { limit, offset } from "../http/query.ts";
import { Count, data, listOf } from "../http/schemas.ts";
import { parseLineReadAddress } from "./address.ts";
import { findReadTarget, requireLine } from "./find_visible.ts";
import { NameOrId, objectOf, READ } from "./schemas.ts";

const Version = objectOf(VERSION_FIELDS, "Version");

export const listVersions = operation(
  {
    ...READ,
    id: "listVersions",
    path: "/api/v1/definitions/{type}/{name}/versions",
    summary: "List the versions of a definition",
    description: "Every version that the caller may see, archived ones too, the highest first.",
    params: NameOrId,
    query: {
      limit: limit({ max: 100, unset: 50 }, "Page size"),
      offset: offset("Number of versions to skip"),
    },
    response: {
      200: data(
        {
          versions: listOf(Version),
          total: Count,
          limit: Type.Integer({ minimum: 0, examples: [50] }),
          offset: Type.Integer({ minimum: 0 }),
        },
        "One page of versions, highest first",
      ),
    },
  },
  async ({ params, query: page, caller, request }, { sql }) => {
    const target = await findReadTarget(sql, parseLineReadAddress(params), { caller, request });
    const lineId = await requireLine(sql, target);
    const { total, versions } = await listVersionHistory(sql, { lineId, viewer: target.viewer, ...page });
    return reply(200, { data: { versions, total, ...page } });
  },
);
