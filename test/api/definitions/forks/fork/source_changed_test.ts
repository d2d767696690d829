import { expect, test } from "bun:test";
import type { Sql } from "../../../../../sql/connection/pool.ts";
import { lockLineQuarantine, updateQuarantine } from "../../../../../sql/definitions/quarantine.ts";
import { errorOf, makeDefinition, write } from "../../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";
import { waitFor } from "../../../../helpers/wait_for.ts";

interface Source {
  id: string;
  lineId: string;
}

const CHANGES: Readonly<Record<string, (tx: Sql, source: Source) => Promise<unknown>>> = {
  quarantined: async (tx, { lineId }) => {
    await lockLineQuarantine(tx, lineId);
    await updateQuarantine(tx, { lineId, version: null, reason: "malware" });
  },
  archived: (tx, { id }) =>
    tx`update definitions set status = 'archived', archived_at = now() where id = ${id}`,
  deleted: (tx, { id }) => tx`delete from definitions where id = ${id}`,
};

const [missing, unpublished, archived] = [
  [404, "NOT_FOUND", { reason: "version", type: "agent", name: "reviewer" }],
  [409, "NOT_FORKABLE", { reason: "NOT_PUBLISHED" }],
  [409, "NOT_FORKABLE", { reason: "ARCHIVED" }],
];

test.each([
  ["deprecated", "quarantined", "member", unpublished],
  ["deprecated", "quarantined", "stranger", missing],
  ["deprecated", "archived", "stranger", archived],
  ["draft", "deleted", "member", missing],
] as const)(
  "a %s version that is %s during a fork by a %s is not forked",
  async (status, change, who, refusal) => {
    await using api = await openTestApp();
    const author = await api.make.person();
    const stranger = await api.make.person();
    const columns = { name: "reviewer", status, visibility: "public" } as const;
    const source = await makeDefinition(api.db.sql, author, columns);
    const caller = who === "member" ? author : stranger;
    let hasResponded = false;
    const { response } = await api.db.owner.begin(async (tx) => {
      await CHANGES[change]?.(tx, source);
      const forking = write(api, "/agent/reviewer@1.0.0/fork", caller, { body: { name: "mine" } });
      void forking.finally(() => {
        hasResponded = true;
      });
      await waitFor(async () => {
        const waiting = await api.db.admin`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return hasResponded || waiting.length > 0;
      });
      return { response: forking };
    });
    expect(await errorOf(await response)).toEqual([...refusal]);
    expect(await api.db.sql`select from definition_lines where name = 'mine'`).toHaveLength(0);
  },
);
