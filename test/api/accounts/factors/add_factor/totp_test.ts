import { describe, expect, test } from "bun:test";
import { auditRows, makeAccount, signIn } from "../../../../helpers/accounts/accounts.ts";
import { Clock, outcomeOf, post, withTotp } from "../../../../helpers/accounts/factors.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";

const BEGIN = "/api/v1/auth/factors/totp";
const CONFIRM = `${BEGIN}/confirm`;

async function confirm(api: TestApp, key: string, code: string): Promise<string> {
  return outcomeOf(await api.request(CONFIRM, { method: "POST", key, body: { name: "Phone", code } }));
}

describe("adding an authenticator app", () => {
  test("accepts a correct code, verifies the session, ends other sessions and returns ten recovery codes", async () => {
    const clock = new Clock();
    await using api = await openTestApp({ now: clock.now });
    const account = await makeAccount(api);
    const other = await signIn(api, account);
    const { key, secret, factorId, recoveryCodes } = await withTotp(api, clock, account);
    expect(new Set(recoveryCodes).size).toBe(10);
    const list = await api.request("/api/v1/auth/factors", { key });
    expect(await list.json()).toEqual({
      data: {
        factors: [
          { id: factorId, kind: "totp", name: "Phone", createdAt: expect.any(String), lastUsedAt: null },
        ],
        recoveryCodesLeft: 10,
        provenAt: expect.any(String),
      },
    });
    expect((await api.request("/api/v1/auth/me", { key: other.sessionToken })).status).toBe(401);
    const [entry] = (await auditRows(api)).filter(({ action }) => action === "factor.add");
    expect(entry).toMatchObject({ actorUserId: account.id, subjectId: factorId });
    expect(entry?.["details"]).toEqual({ kind: "totp", endedSessions: 1 });
    const mails = await api.db.sql`select kind, email, details from account_mails`;
    expect([...mails]).toEqual([
      { kind: "factor_notice", email: account.email, details: { event: "added", name: "Phone" } },
    ]);
    const everything = await api.db.sql<{ text: string }[]>`
      select row_to_json(r)::text as text from recovery_codes r
      union all select row_to_json(a)::text from audit_log a
      union all select row_to_json(m)::text from account_mails m`;
    const seen = JSON.stringify([everything, api.logLines]);
    for (const code of [...recoveryCodes, secret]) expect(seen).not.toContain(code);
  });
});

describe("adding an authenticator app is refused", () => {
  test("without the password if the user has no factor yet, and after too many wrong passwords", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 3 } });
    const account = await makeAccount(api);
    const { sessionToken: key } = await signIn(api, account);
    const begin = async (body: object) => outcomeOf(await api.request(BEGIN, { method: "POST", key, body }));
    expect(await begin({})).toBe("400 VALIDATION_ERROR");
    expect(await begin({ password: "wrong" })).toBe("401 UNAUTHORIZED");
    expect(await begin({ password: "wrong" })).toBe("401 UNAUTHORIZED");
    expect(await begin({ password: account.password })).toBe("429 RATE_LIMITED");
  });

  test("if the user has a second factor but has not used it recently, even with the password", async () => {
    const clock = new Clock();
    await using api = await openTestApp({ now: clock.now });
    const { account, key } = await withTotp(api, clock, await makeAccount(api));
    await api.db.sql`update sessions set factor_at = now() - interval '15 minutes'`;
    const body = { password: account.password };
    const response = await api.request(BEGIN, { method: "POST", key, body });
    expect(await response.json()).toMatchObject({
      error: { code: "SECOND_FACTOR_REQUIRED", details: { maxAgeSeconds: 900 } },
    });
    await api.db.sql`update sessions set factor_at = now() - interval '14 minutes'`;
    await post(api, "/auth/factors/totp", { key, body: {} });
  });

  test("with a code for another secret or session, after the secret expires and after ten wrong codes", async () => {
    const clock = new Clock();
    await using api = await openTestApp({ now: clock.now });
    const account = await makeAccount(api);
    const { sessionToken: key } = await signIn(api, account);
    const begin = async () =>
      (
        await post<{ secret: string }>(api, "/auth/factors/totp", {
          key,
          body: { password: account.password },
        })
      ).secret;
    expect(await confirm(api, key, "123456")).toBe("404 NOT_FOUND");
    const replaced = await begin();
    const secret = await begin();
    expect(await confirm(api, key, clock.code(replaced))).toBe("400 VALIDATION_ERROR");
    const { sessionToken: otherKey } = await signIn(api, account);
    expect(await confirm(api, otherKey, clock.code(secret))).toBe("404 NOT_FOUND");
    await api.db.sql`update factor_challenges set expires_at = now() - interval '1 second'`;
    expect(await confirm(api, key, clock.code(secret))).toBe("404 NOT_FOUND");
    const last = await begin();
    for (let tries = 0; tries < 10; tries += 1) await confirm(api, key, "no code");
    expect(await confirm(api, key, clock.code(last))).toBe("404 NOT_FOUND");
    expect(await api.db.sql`select 1 from second_factors`).toHaveLength(0);
  });

  test("for the second of two concurrent confirmations", async () => {
    const clock = new Clock();
    await using api = await openTestApp({ now: clock.now });
    const account = await makeAccount(api);
    const { sessionToken: key } = await signIn(api, account);
    const body = { password: account.password };
    const { secret } = await post<{ secret: string }>(api, "/auth/factors/totp", { key, body });
    const outcomes = await Promise.all([1, 2].map(() => confirm(api, key, clock.code(secret))));
    expect(outcomes.toSorted()).toEqual(["201", "404 NOT_FOUND"]);
  });

  test("for users who already have ten factors", async () => {
    const clock = new Clock();
    await using api = await openTestApp({ now: clock.now });
    const { account, key } = await withTotp(api, clock, await makeAccount(api));
    await api.db.sql`
      insert into second_factors (user_id, kind, name, secret, last_step)
      select ${account.id}, 'totp', 'App ' || n, '\\x00', 0 from generate_series(1, 9) as n`;
    const response = await api.request(BEGIN, { method: "POST", key, body: {} });
    expect(await response.json()).toMatchObject({
      error: { code: "QUOTA_EXCEEDED", details: { quota: "factors", limit: 10 } },
    });
  });
});
