import { expect, test } from "bun:test";
import { auditRows, login, makeAccount } from "../../../helpers/accounts/accounts.ts";
import { runCommand, runJson } from "../../../helpers/accounts/admin.ts";
import { Clock, withTotp } from "../../../helpers/accounts/factors.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { commitDuring } from "../../../helpers/postgres/waiting_sessions.ts";

test("user remove-factors removes all factors, ends the sessions and notifies the user", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { account, key } = await withTotp(api, clock, await makeAccount(api));
  const words = ["user", "remove-factors", "--user", account.username];
  const removed = await runJson(api.db.url, words);
  expect(removed).toEqual({ id: account.id, factorsRemoved: 1, sessionsRevoked: 1 });
  api.deps.callers.forget(account.id);
  expect((await api.request("/api/v1/auth/me", { key })).status).toBe(401);
  expect((await login(api, account)).status).toBe(200);
  expect(await api.db.sql`select 1 from recovery_codes`).toHaveLength(0);
  const [mail] = await api.db
    .sql`select email, details from account_mails where details ->> 'event' = 'reset'`;
  expect(mail).toEqual({ email: account.email, details: { event: "reset" } });
  const [entry] = (await auditRows(api)).filter(({ action }) => action === "factor.reset");
  expect(entry).toMatchObject({ actorType: "operator", subjectId: account.id });
  expect((await runCommand(api.db.url, words)).exitCode).toBe(1);
});

test("user remove-factors removes even a factor that is added concurrently", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { account } = await withTotp(api, clock, await makeAccount(api));
  const removed = await commitDuring(
    api.db,
    async (tx) => {
      await tx`select from users where id = ${account.id} for no key update`;
      await tx`
        insert into second_factors (user_id, kind, name, secret, last_step)
        select user_id, kind, 'Tablet', secret, last_step from second_factors`;
    },
    () => runJson(api.db.url, ["user", "remove-factors", "--user", account.username]),
  );
  expect(removed["factorsRemoved"]).toBe(2);
  expect(await api.db.sql`select from second_factors`).toHaveLength(0);
});

test("session create creates a session that counts as verified for a user with a factor", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { account } = await withTotp(api, clock, await makeAccount(api));
  const { sessionToken: key } = await runJson<{ sessionToken: string }>(api.db.url, [
    "session",
    "create",
    ...["--user", account.username],
  ]);
  expect((await api.request("/api/v1/auth/me", { key })).status).toBe(200);
  const [entry] = (await auditRows(api)).slice(-1);
  expect(entry).toMatchObject({ actorType: "operator", details: { secondFactor: "operator" } });
});
