/** Who asks for an export, and whether they may have the project: the statements a server runs before it streams. */
import { createHash } from "node:crypto";
import type pg from "pg";
import { CALLER } from "./read_statements.ts";

const PROJECT = {
  name: "project",
  text: `select p.id, p.name
    from projects p
    join organization_members m on m.org_id = p.org_id
    where p.id = $1 and p.deleted_at is null and m.user_id = $2`,
};

/** True when the key is good for a project that its user may see. */
export async function mayExport(
  pool: pg.Pool,
  { project, authorization = "" }: { project: string; authorization?: string | undefined },
): Promise<boolean> {
  const [, secret = ""] = /^Bearer (ulr_[\w-]+)$/.exec(authorization) ?? [];
  const hash = createHash("sha256").update(secret).digest();
  const { rows: callers } = await pool.query({ ...CALLER, values: [hash] });
  if (!callers[0]) return false;
  const { rows } = await pool.query({ ...PROJECT, values: [project, callers[0].userId] });
  return rows.length === 1;
}
