/** `audit list` lists entries of the audit log. `audit verify` verifies its hash chain. */
import {
  type AuditHead,
  type ChainedEntryRow,
  findAuditChain,
  findUnsealed,
  listChainedEntries,
} from "../../sql/accounts/audit_chain.ts";
import { type AuditEntryRow, listAuditEntries } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { AdminError, defineCommand, parseInstantFlag, UsageError } from "./command/command.ts";
import { fields, table, withThousands } from "./command/format_output.ts";
import { requireOrgId, requireUser } from "./command/lookups.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;

/** Number of entries that `audit verify` reads per query. */
const BATCH = 5_000;
/** Format of a chain head: `POSITION:HASH`, as printed by `audit verify`. */
const HEAD = /^(\d{1,15}):([0-9a-f]{64})$/;

export const AUDIT_COMMANDS = [
  defineCommand({
    name: "audit list",
    about: "Lists entries of the audit log, newest first.",
    flags: {
      org: { placeholder: "S", about: "slug of the organization the entries are about" },
      actor: { placeholder: "U", about: "username of the actor" },
      since: { placeholder: "ISO", about: "entries from this time on" },
      limit: {
        placeholder: "N",
        about: `maximum number of entries, 1 to ${MAX_LIMIT}, default ${DEFAULT_LIMIT}`,
      },
    },
    async run({ sql, warn }, { org, actor, since, limit }) {
      const max = parseLimit(limit);
      const after = since === undefined ? undefined : parseInstantFlag("since", since);
      const orgId = org === undefined ? undefined : await requireOrgId(sql, org);
      const actorUserId = actor === undefined ? undefined : (await requireUser(sql, actor)).id;
      const found = await listAuditEntries(sql, { since: after, limit: max + 1, orgId, actorUserId });
      const entries = found.slice(0, max);
      if (found.length > max) {
        warn(
          `Only the newest ${max} entries are listed. --limit lists up to ${MAX_LIMIT}; older ones are in the table audit_log.`,
        );
      }
      return {
        json: { entries },
        text: table(
          ["TIME", "ACTOR", "ACTION", "SUBJECT", "ADDRESS", "DETAILS"],
          entries.map(describeEntry),
          "No entries.",
        ),
      };
    },
  }),
  defineCommand({
    name: "audit verify",
    about: "Verifies the hash chain of the audit log. Exits with 1 and names the first broken entry, if any.",
    flags: {
      head: {
        placeholder: "POSITION:HASH",
        about: "a head from an earlier run or the log, which must be in the chain",
      },
    },
    async run({ sql, warn }, values) {
      const witness = parseHead(values.head);
      const found = await sql.begin("isolation level repeatable read read only", async (tx) => ({
        head: await verifyChain(tx, witness),
        unsealed: await findUnsealed(tx),
      }));
      const { entries, position, hash } = found.head;
      const { count, oldestAt } = found.unsealed;
      if (count > 0)
        warn(`Note: ${count} entries since ${oldestAt} are not sealed yet; the job runner seals them`);
      return {
        json: { ok: true, entries, head: { position, hash }, unsealed: count, oldestUnsealedAt: oldestAt },
        text: fields({
          "Entries in the chain": withThousands(entries),
          Head: `${position}:${hash}`,
          "Not sealed yet": count,
        }),
      };
    },
  }),
];

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

function parseHead(text: string | undefined): AuditHead | null {
  if (text === undefined) return null;
  const [, position, hash] = HEAD.exec(text) ?? [];
  if (position && hash) return { position: Number(position), hash };
  throw new UsageError(
    "--head must be POSITION:HASH, as printed by `audit verify` or in the job runner's log",
  );
}

/** Returns the problem with the entry after `head`; `null` if the entry is valid. */
function problemOf(row: ChainedEntryRow, head: AuditHead, witness: AuditHead | null): string | null {
  const where = `entry ${row.id} of ${row.occurredAt}, position ${row.position}`;
  if (row.position !== head.position + 1) {
    return `entries are missing before ${where}: the previous one has position ${head.position}`;
  }
  if (row.previousHash !== head.hash) return `${where} does not follow the previous entry`;
  if (row.hash !== row.computedHash) return `${where} was changed`;
  if (row.position !== witness?.position || row.hash === witness.hash) return null;
  return `${where} does not have the hash in --head: the chain was rewritten`;
}

/** Returns the problem with the end of the chain; `null` if no entries are missing there. */
function problemAtEnd(head: AuditHead, expected: AuditHead, witness: AuditHead | null): string | null {
  const isWhole = head.position === expected.position && head.hash === expected.hash;
  const position = Math.max(expected.position, witness?.position ?? 0);
  if (isWhole && head.position === position) return null;
  return `entries are missing at the end: the last one has position ${head.position} instead of ${position}`;
}

/**
 * Verifies the chain from its first entry to its last and returns the head. Throws AdminError for the first missing or
 * changed entry. Call inside a `repeatable read` transaction.
 */
async function verifyChain(tx: Sql, witness: AuditHead | null): Promise<AuditHead & { entries: number }> {
  const chain = await findAuditChain(tx);
  const start: AuditHead = { position: chain.deletedPosition, hash: chain.deletedHash };
  if (witness?.position === start.position && witness.hash !== start.hash) {
    throw broken(`position ${start.position} does not have the hash in --head: the chain was rewritten`);
  }
  let head = start;
  let rows: ChainedEntryRow[];
  do {
    rows = await listChainedEntries(tx, { after: head.position, limit: BATCH });
    for (const row of rows) {
      const problem = problemOf(row, head, witness);
      if (problem) throw broken(problem);
      head = { position: row.position, hash: row.hash };
    }
  } while (rows.length === BATCH);
  const problem = problemAtEnd(head, { position: chain.sealedPosition, hash: chain.sealedHash }, witness);
  if (problem) throw broken(problem);
  if (witness && witness.position < start.position) {
    throw new AdminError(
      `Cannot check --head: position ${witness.position} is older than what the log keeps. Use a head from position ${start.position} on.`,
    );
  }
  return { ...head, entries: head.position - start.position };
}

function broken(problem: string): AdminError {
  return new AdminError(`The audit log is broken: ${problem}`, "AUDIT_BROKEN");
}
