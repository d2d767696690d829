import { expect, test } from "bun:test";
import { hashSecret } from "../../../api/http/credentials.ts";
import { createUser, runJson } from "../../helpers/accounts/admin.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { waitFor } from "../../helpers/wait_for.ts";

async function statusOf(api: TestApp, key: string): Promise<number> {
  return (await api.request("/api/v1/auth/me", { key })).status;
}

test("session create creates a session that lasts SESSION_TTL_HOURS", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  const session = await runJson<{ sessionToken: string; expiresAt: string }>(
    db.url,
    ["session", "create", "--user", "ann"],
    { SESSION_TTL_HOURS: "2" },
  );
  const [row] = await db.sql`
    select token_hash, expires_at, expires_at - now() between interval '119 min' and interval '2 h' as in_time
    from sessions`;
  expect(row).toMatchObject({ inTime: true, expiresAt: session.expiresAt });
  expect(row?.["tokenHash"]).toEqual(hashSecret(session.sessionToken));
});

test("session revoke ends one session or all of a user's sessions", async () => {
  await using api = await openTestApp();
  const { user } = await api.make.person();
  const [first, second, third] = [
    await api.make.session({ userId: user.id }),
    await api.make.session({ userId: user.id }),
    await api.make.session({ userId: user.id }),
  ];
  const byId = ["session", "revoke", "--id", first.id];
  expect([await runJson(api.db.url, byId), await runJson(api.db.url, byId)]).toEqual([
    { revoked: 1 },
    { revoked: 0 },
  ]);
  expect([await statusOf(api, first.token), await statusOf(api, second.token)]).toEqual([401, 200]);
  const ofUser = ["session", "revoke", "--user", user.username];
  expect(await runJson(api.db.url, ofUser)).toEqual({ revoked: 2 });
  await waitFor(async () => (await statusOf(api, third.token)) === 401, 1_000);
});

test("session list sorts sessions newest first", async () => {
  await using api = await openTestApp();
  const user = await api.make.user();
  const first = await api.make.session({ userId: user.id });
  const second = await api.make.session({ userId: user.id });
  const words = ["session", "list", "--user", user.username];
  const { sessions } = await runJson<{ sessions: object[] }>(api.db.url, words);
  expect(sessions).toMatchObject([{ id: second.id }, { id: first.id }]);
});
