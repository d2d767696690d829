/** `audit list`: shows the audit log. */
import { type AuditEntryRow, listAuditEntries } from "../../sql/accounts/audit_log.ts";
import { defineCommand, parseInstantFlag, UsageError } from "./command/command.ts";
import { requireOrg, requireUser } from "./command/lookups.ts";
import { table } from "./command/present.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;

function parseLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}`);
}

function describeEntry(entry: AuditEntryRow): string[] {
  const actor = entry.actorUsername ?? entry.actorUserId ?? entry.actorType;
  const subject = `${entry.subjectType} ${entry.subjectId}`;
  const details = JSON.stringify(entry.details);
  return [entry.occurredAt, actor, entry.action, subject, entry.address ?? "-", details];
}

export const listAuditCommand = defineCommand({
  name: "audit list",
  about: "Lists entries of the audit log, newest first.",
  flags: {
    org: { placeholder: "S", about: "slug of the organization the entries are about" },
    actor: { placeholder: "U", about: "username of the actor" },
    since: { placeholder: "ISO", about: "entries from this time on" },
    limit: { placeholder: "N", about: `maximum number of entries, default ${DEFAULT_LIMIT}` },
  },
  async run({ sql }, { org, actor, since, limit }) {
    const filter = {
      since: since === undefined ? undefined : parseInstantFlag("since", since),
      limit: parseLimit(limit),
    };
    const orgId = org === undefined ? undefined : (await requireOrg(sql, org)).id;
    const actorUserId = actor === undefined ? undefined : (await requireUser(sql, actor)).id;
    const entries = await listAuditEntries(sql, { ...filter, orgId, actorUserId });
    return {
      json: { entries: [...entries] },
      text: table(["TIME", "ACTOR", "ACTION", "SUBJECT", "ADDRESS", "DETAILS"], entries.map(describeEntry)),
    };
  },
});
