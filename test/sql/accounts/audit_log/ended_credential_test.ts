/** Tests requests that wait for a lock while their key or session ends, or while their user is disabled. */
import { expect, test } from "bun:test";
import { insertAuditEntry } from "../../../../sql/accounts/audit_log.ts";
import type { Sql } from "../../../../sql/connection/pool.ts";
import { lockTransaction } from "../../../../sql/locks.ts";
import { makeAccount, signIn } from "../../../helpers/accounts/accounts.ts";
import { Clock, outcomeOf, post } from "../../../helpers/accounts/factors.ts";
import { agentNeeding, createAgent, publishAgent, write } from "../../../helpers/definitions/definitions.ts";
import { makePlatformAdmin } from "../../../helpers/definitions/executions.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";
import { commitDuring } from "../../../helpers/postgres/waiting_sessions.ts";

async function countActions(api: TestApp, action: string): Promise<number> {
  return (await api.db.sql`select from audit_log where action = ${action}`).length;
}

const ENDS: Readonly<Record<string, (tx: Sql) => Promise<unknown>>> = {
  "its key was revoked": (tx) => tx`update api_keys set revoked_at = now()`,
  "its key expired": (tx) => tx`update api_keys set expires_at = now()`,
  "its user was disabled": (tx) => tx`update users set disabled_at = now()`,
};

for (const [why, end] of Object.entries(ENDS)) {
  test(`rejects a publication if ${why} while the publication waited for a lock`, async () => {
    await using api = await openTestApp();
    const person = await api.make.person();
    await createAgent(api, person, { name: "reviewer" });
    const response = await commitDuring(
      api.db,
      async (tx) => {
        await tx`select from definitions for update`;
        await end(tx);
      },
      () => write(api, "/agent/reviewer@1.0.0/publish", person),
    );
    expect(await outcomeOf(response)).toBe("401 UNAUTHORIZED");
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect([...(await api.db.sql`select status from definitions`)]).toEqual([{ status: "draft" }]);
    expect(await countActions(api, "definition.publish")).toBe(0);
  });
}

test("rejects a publication if its key was revoked during the wait for the dependency-graph lock", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "helper" });
  await createAgent(api, person, { name: "reviewer", yaml: agentNeeding("reviewer", ["helper"]) });
  const response = await commitDuring(
    api.db,
    async (tx) => {
      await lockTransaction(tx, "dependencyGraph");
      await tx`update api_keys set revoked_at = now()`;
    },
    () => write(api, "/agent/reviewer@1.0.0/publish", person),
  );
  expect(await outcomeOf(response)).toBe("401 UNAUTHORIZED");
  const [row] = await api.db.sql`select status from definitions where name = 'reviewer'`;
  expect(row).toEqual({ status: "draft" });
});

test("records no execution if the key is revoked during a wait for a lock, even if the commit is already sent", async () => {
  await using api = await openTestApp();
  const admin = await makePlatformAdmin(api);
  await publishAgent(api, await api.make.person(), { name: "open", visibility: "public" });
  const response = await commitDuring(
    api.db,
    async (tx) => {
      await tx`select from definition_lines for update`;
      await tx`update api_keys set revoked_at = now()`;
    },
    () => write(api, "/agent/open/executions", admin, { body: { source: "sdk" } }),
  );
  expect(await outcomeOf(response)).toBe("401 UNAUTHORIZED");
  expect(await api.db.sql`select from definition_executions`).toHaveLength(0);
  expect(await countActions(api, "execution.record")).toBe(0);
});

test("prevents a session revoked by a password change from adding a second factor", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const account = await makeAccount(api);
  const { sessionToken: key } = await signIn(api, account);
  const body = { password: account.password };
  const { secret } = await post<{ secret: string }>(api, "/auth/factors/totp", { key, body });
  const response = await commitDuring(
    api.db,
    async (tx) => {
      await tx`update users set password_hash = 'another' where id = ${account.id}`;
      await tx`update sessions set revoked_at = now()`;
    },
    () =>
      api.request("/api/v1/auth/factors/totp/confirm", {
        method: "POST",
        key,
        body: { name: "Phone", code: clock.code(secret) },
      }),
  );
  expect(await outcomeOf(response)).toBe("401 UNAUTHORIZED");
  expect(await api.db.sql`select from second_factors`).toHaveLength(0);
});

test("keeps the audit entry of a rejected request even if its key has been revoked", async () => {
  await using db = await openTestDatabase();
  const entry = {
    actorType: "user",
    credentialId: crypto.randomUUID(),
    subject: { type: "route", id: "/" },
  } as const;
  await insertAuditEntry(db.sql, { ...entry, action: "request.refuse" });
  const other = insertAuditEntry(db.sql, { ...entry, action: "org.create" });
  await expect(other).rejects.toThrow("it has ended");
  const rows = await db.sql`select action from audit_log`;
  expect([...rows]).toEqual([{ action: "request.refuse" }]);
});

test("accepts a request that revokes its own session by signing out", async () => {
  await using api = await openTestApp();
  const { sessionToken: key } = await signIn(api, await makeAccount(api));
  expect((await api.request("/api/v1/auth/logout", { method: "POST", key })).status).toBe(204);
  expect(await countActions(api, "session.revoke")).toBe(1);
});
