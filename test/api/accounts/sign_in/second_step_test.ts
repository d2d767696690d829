/** Signing in with a second factor: valid and invalid codes, single use, expiry, and limits on guessing. */
import { describe, expect, test } from "bun:test";
import { auditRows, login, makeAccount, signIn } from "../../../helpers/accounts/accounts.ts";
import { runJson } from "../../../helpers/accounts/admin.ts";
import {
  Clock,
  firstStep,
  ORIGIN,
  outcomeOf,
  secondStep,
  signInChallenge,
  signInWithCode,
  withPasskey,
  withTotp,
} from "../../../helpers/accounts/factors.ts";
import { PasskeyDevice } from "../../../helpers/accounts/passkey_device.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { listWaiting } from "../../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

async function open() {
  const clock = new Clock();
  const api = await openTestApp({ now: clock.now, config: { rateLimitLoginPerMinute: 1000 } });
  return { api, clock, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

const WRONG = "401 UNAUTHORIZED";

describe("with an authenticator app's code", () => {
  test("the password step returns a token, and the code step returns a session", async () => {
    await using place = await open();
    const { api, clock } = place;
    const { account, secret } = await withTotp(api, clock, await makeAccount(api));
    clock.step();
    const response = await login(api, account);
    expect([response.status, response.headers.get("cache-control")]).toEqual([403, "no-store"]);
    expect(response.headers.getSetCookie()).toEqual([]);
    const { error } = (await response.json()) as { error: { details: { loginToken: string } } };
    const { loginToken } = error.details;
    expect(error).toMatchObject({
      code: "SECOND_FACTOR_REQUIRED",
      details: {
        loginToken: expect.stringMatching(/^ull_[\w-]{43}$/),
        methods: ["totp", "recovery_code"],
        expiresAt: expect.any(String),
      },
    });
    const second = await secondStep(api, {
      loginToken,
      code: ` ${clock.code(secret).replace(/.../, "$& ")}`,
    });
    expect([second.status, second.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { data } = (await second.json()) as { data: { sessionToken: string; user: object } };
    expect(second.headers.getSetCookie()).toEqual([expect.stringContaining(data.sessionToken)]);
    expect(data.user).toMatchObject({ id: account.id, email: account.email });
    expect((await api.request("/api/v1/auth/me", { key: data.sessionToken })).status).toBe(200);
    const [entry] = (await auditRows(api)).filter(({ action }) => action === "session.create").slice(-1);
    expect(entry).toMatchObject({ actorUserId: account.id, details: { secondFactor: "totp" } });
    expect(JSON.stringify(api.logLines)).not.toContain(loginToken);
  });

  test("a code works once, even in two concurrent requests, and invalidates earlier codes", async () => {
    await using place = await open();
    const { api, clock } = place;
    const { account, secret } = await withTotp(api, clock, await makeAccount(api));
    // The code was already used when the authenticator app was added.
    expect(
      await outcomeOf(await secondStep(api, { ...(await tokenOf(api, account)), code: clock.code(secret) })),
    ).toBe(WRONG);
    const earlier = clock.code(secret);
    clock.step();
    const code = clock.code(secret);
    const tokens = await Promise.all([1, 2, 3, 4].map(() => tokenOf(api, account)));
    // The lock keeps the requests from marking the code as used before all four have begun.
    const { outcomes } = await api.db.owner.begin(async (tx) => {
      await tx`lock table second_factors in share mode`;
      const sent = tokens.map(async (token) => outcomeOf(await secondStep(api, { ...token, code })));
      await waitFor(async () => (await listWaiting(api.db.admin)).length === 4);
      return { outcomes: Promise.all(sent) };
    });
    expect((await outcomes).toSorted()).toEqual(["200", WRONG, WRONG, WRONG]);
    for (const used of [code, earlier]) {
      expect(await outcomeOf(await secondStep(api, { ...(await tokenOf(api, account)), code: used }))).toBe(
        WRONG,
      );
    }
  });

  test("a token works once, ends at its expiry or after five attempts, and unknown tokens are refused", async () => {
    await using place = await open();
    const { api, clock } = place;
    const { account, secret } = await withTotp(api, clock, await makeAccount(api));
    clock.step();
    const used = await tokenOf(api, account);
    const outcomes = await Promise.all(
      [clock.code(secret), clock.code(secret)].map(async (code) =>
        outcomeOf(await secondStep(api, { ...used, code })),
      ),
    );
    expect(outcomes.toSorted()).toEqual(["200", WRONG]);
    clock.step();
    const code = clock.code(secret);
    for (const loginToken of [used.loginToken, `ull_${"A".repeat(43)}`, "x"]) {
      expect(await outcomeOf(await secondStep(api, { loginToken, code }))).toBe(WRONG);
    }
    const expired = await tokenOf(api, account);
    await api.db.sql`update factor_challenges set expires_at = now() - interval '1 second'`;
    expect(await outcomeOf(await secondStep(api, { ...expired, code }))).toBe(WRONG);
    const tried = await tokenOf(api, account);
    for (let tries = 0; tries < 5; tries += 1) {
      expect(await outcomeOf(await secondStep(api, { ...tried, code: "x" }))).toBe(WRONG);
    }
    expect(await outcomeOf(await secondStep(api, { ...tried, code }))).toBe(WRONG);
    expect(await outcomeOf(await secondStep(api, { ...(await tokenOf(api, account)), code }))).toBe("200");
  });
});

test("the second step accepts exactly one proof, and only from pages of this service's origin", async () => {
  await using place = await open();
  const { api, clock } = place;
  const { account } = await withTotp(api, clock, await makeAccount(api));
  const token = await tokenOf(api, account);
  for (const proof of [{}, { code: "123456", passkey: "{}" }]) {
    expect(await outcomeOf(await secondStep(api, { ...token, ...proof }))).toBe("400 VALIDATION_ERROR");
  }
  const headers = { origin: "https://evil.example" };
  expect(await outcomeOf(await secondStep(api, { ...token, code: "123456" }, { headers }))).toBe(
    "403 FORBIDDEN_ORIGIN",
  );
});

describe("guessing", () => {
  test("is blocked after 20 wrong codes a day from any address, while recovery codes still work", async () => {
    await using place = await open();
    const { api, clock } = place;
    const { account, secret, recoveryCodes } = await withTotp(api, clock, await makeAccount(api));
    clock.step();
    const wrong = clock.code(secret) === "000000" ? "000001" : "000000";
    for (let round = 0; round < 4; round += 1) {
      const token = await tokenOf(api, account);
      for (let tries = 0; tries < 5; tries += 1) {
        const address = `198.51.100.${round * 5 + tries}`;
        expect(await outcomeOf(await secondStep(api, { ...token, code: wrong }, { address }))).toBe(WRONG);
      }
    }
    const blocked = await secondStep(api, { ...(await tokenOf(api, account)), code: clock.code(secret) });
    expect(Number(blocked.headers.get("retry-after"))).toBeGreaterThan(86_000);
    expect(await outcomeOf(blocked)).toBe("429 RATE_LIMITED");
    const mails = await api.db
      .sql`select kind, details from account_mails where details ->> 'event' = 'guessed'`;
    expect(mails).toHaveLength(1);
    const [code = ""] = recoveryCodes;
    expect(await outcomeOf(await secondStep(api, { ...(await tokenOf(api, account)), code }))).toBe("200");
    // Neither a correct password nor a recovery code resets the limit. The limit ends after a day.
    expect(
      await outcomeOf(await secondStep(api, { ...(await tokenOf(api, account)), code: clock.code(secret) })),
    ).toBe("429 RATE_LIMITED");
    await api.db.sql`update second_factors set wrong_codes_since = now() - interval '1 day'`;
    expect(
      await outcomeOf(await secondStep(api, { ...(await tokenOf(api, account)), code: clock.code(secret) })),
    ).toBe("200");
  });

  test("counts as sign-in attempts, and the right password does not reset the limit", async () => {
    const clock = new Clock();
    await using api = await openTestApp({ now: clock.now, config: { rateLimitLoginPerMinute: 6 } });
    const { account } = await withTotp(api, clock, await makeAccount(api));
    // Two attempts have been counted: the sign-in, and the password check when the factor was added.
    const { loginToken } = await firstStep(api, account);
    const code = "no code";
    const outcomes: string[] = [];
    for (let tries = 0; tries < 4; tries += 1) {
      outcomes.push(await outcomeOf(await secondStep(api, { loginToken, code })));
    }
    expect(outcomes).toEqual([WRONG, WRONG, WRONG, "429 RATE_LIMITED"]);
    expect((await login(api, account)).status).toBe(429);
  });

  test("by strangers does not delay the second step after the right password", async () => {
    const clock = new Clock();
    await using api = await openTestApp({ now: clock.now, config: { rateLimitLoginPerMinute: 4 } });
    const { account, secret } = await withTotp(api, clock, await makeAccount(api));
    const { email } = account;
    for (const network of [1, 2, 3, 4]) {
      await login(api, { email, password: "wrong password" }, { address: `10.0.${network}.9` });
    }
    await api.db.sql`update login_account_attempts set attempts = 144`;
    const travel = { address: "203.0.113.50" };
    expect((await login(api, account, travel)).status).toBe(429);
    await api.db.sql`update login_waits set waiting_since = waiting_since - interval '15 minutes'`;
    // The process caches the refusal until its own clock reaches the end of the wait.
    clock.time += 900_000;
    const { loginToken } = await firstStep(api, account, travel);
    const code = clock.code(secret);
    expect(await outcomeOf(await secondStep(api, { loginToken, code }, travel))).toBe("200");
  });

  test("is recorded in the audit log without the guessed code", async () => {
    await using place = await open();
    const { api, clock } = place;
    const { account } = await withTotp(api, clock, await makeAccount(api));
    await secondStep(api, { ...(await tokenOf(api, account)), code: "424242" });
    // The response does not wait for the audit entry.
    const rows = await waitFor(async () => {
      const all = await auditRows(api);
      return all.some(({ action }) => action === "session.refuse") ? all : null;
    });
    expect(rows.filter(({ action }) => action === "session.refuse")).toEqual([
      expect.objectContaining({ actorType: "anonymous", subjectId: account.id }),
    ]);
    expect(JSON.stringify([rows, api.logLines])).not.toContain("424242");
  });
});

test("a recovery code works once, even in two concurrent requests, and the user is notified", async () => {
  await using place = await open();
  const { api, clock } = place;
  const { account, recoveryCodes } = await withTotp(api, clock, await makeAccount(api));
  const [code = "", other = ""] = recoveryCodes;
  const tokens = await Promise.all([1, 2].map(() => tokenOf(api, account)));
  const outcomes = await Promise.all(
    tokens.map(async (token) => outcomeOf(await secondStep(api, { ...token, code }))),
  );
  expect(outcomes.toSorted()).toEqual(["200", WRONG]);
  expect(await outcomeOf(await secondStep(api, { ...(await tokenOf(api, account)), code }))).toBe(WRONG);
  const typed = other.toUpperCase().replaceAll("-", " ");
  expect(await outcomeOf(await secondStep(api, { ...(await tokenOf(api, account)), code: typed }))).toBe(
    "200",
  );
  const mails = await api.db.sql`
    select email, details from account_mails where details ->> 'event' = 'code_used' order by created_at`;
  expect([...mails]).toEqual(
    [9, 8].map((codesLeft) => ({ email: account.email, details: { event: "code_used", codesLeft } })),
  );
});

describe("with a passkey", () => {
  test("only a response to the same sign-in's challenge is accepted, and only once", async () => {
    await using place = await open();
    const { api } = place;
    const { account, device } = await withPasskey(api, await makeAccount(api));
    const { loginToken, methods } = await firstStep(api, account);
    expect(methods).toEqual(["passkey", "recovery_code"]);
    const challenge = await signInChallenge(api, loginToken);
    const passkey = device.get({ challenge, origin: ORIGIN });
    const other = await tokenOf(api, account);
    await signInChallenge(api, other.loginToken);
    expect(await outcomeOf(await secondStep(api, { ...other, passkey }))).toBe(WRONG);
    expect(await outcomeOf(await secondStep(api, { loginToken, passkey }))).toBe("200");
    expect(await outcomeOf(await secondStep(api, { loginToken, passkey }))).toBe(WRONG);
  });

  test("a wrong response or a request for new options invalidates the challenge", async () => {
    await using place = await open();
    const { api } = place;
    const { account, device } = await withPasskey(api, await makeAccount(api));
    const { loginToken } = await firstStep(api, account);
    const use = async (challenge: string, origin = ORIGIN) =>
      outcomeOf(await secondStep(api, { loginToken, passkey: device.get({ challenge, origin }) }));
    expect(await use("AAAA")).toBe(WRONG);
    const replaced = await signInChallenge(api, loginToken);
    const challenge = await signInChallenge(api, loginToken);
    expect(await use(replaced)).toBe(WRONG);
    expect(await use(challenge)).toBe(WRONG);
    expect(await use(await signInChallenge(api, loginToken), "http://localhost:3001")).toBe(WRONG);
    expect(await use(await signInChallenge(api, loginToken))).toBe("200");
  });

  test("a copied passkey is refused, and the user is notified", async () => {
    await using place = await open();
    const { api } = place;
    const { account, device } = await withPasskey(api, await makeAccount(api));
    const use = async () => {
      const token = await tokenOf(api, account);
      const challenge = await signInChallenge(api, token.loginToken);
      return outcomeOf(
        await secondStep(api, { ...token, passkey: device.get({ challenge, origin: ORIGIN }) }),
      );
    };
    expect(await use()).toBe("200");
    device.count = 0;
    expect(await use()).toBe(WRONG);
    expect(await use()).toBe("200");
    const mails = await api.db.sql`select 1 from account_mails where details ->> 'event' = 'copied'`;
    expect(mails).toHaveLength(1);
  });

  test("another user's passkey is refused", async () => {
    await using place = await open();
    const { api } = place;
    const [one, two] = [
      await withPasskey(api, await makeAccount(api)),
      await withPasskey(api, await makeAccount(api)),
    ];
    const token = await tokenOf(api, one.account);
    const challenge = await signInChallenge(api, token.loginToken);
    for (const device of [two.device, new PasskeyDevice()]) {
      const passkey = device.get({ challenge, origin: ORIGIN });
      expect(await outcomeOf(await secondStep(api, { ...token, passkey }))).toBe(WRONG);
    }
  });

  test("a user without a passkey gets no passkey options", async () => {
    await using place = await open();
    const { api, clock } = place;
    const { account } = await withTotp(api, clock, await makeAccount(api));
    const path = "/api/v1/auth/login/second-factor/options";
    const ask = (loginToken: string) => api.request(path, { method: "POST", body: { loginToken } });
    const refused = await ask((await tokenOf(api, account)).loginToken);
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      { error: { code: "UNPROCESSABLE_ENTITY", details: { reason: "no passkey" } } },
    ]);
    expect(await outcomeOf(await ask("ull_unknown"))).toBe(WRONG);
  });
});

test("requesting passkey options does not block a concurrent second step", async () => {
  await using place = await open();
  const { api } = place;
  const { account } = await withPasskey(api, await makeAccount(api));
  const { loginToken } = await firstStep(api, account);
  const { options } = await api.db.sql.begin(async (tx) => {
    await tx`select from factor_challenges for update`;
    const asked = signInChallenge(api, loginToken);
    await waitFor(async () => (await listWaiting(api.db.sql)).length > 0);
    await tx`select from second_factors for update nowait`;
    return { options: asked };
  });
  expect(await options).toBeString();
});

describe("between the two steps", () => {
  test("changing the password or disabling or deleting the user ends the sign-in", async () => {
    await using place = await open();
    const { api, clock } = place;
    const changes: readonly [(id: string, username: string) => Promise<unknown>, outcome: string][] = [
      [async () => null, "200"],
      [(id) => api.db.sql`update users set password_hash = '!' where id = ${id}`, WRONG],
      [(_, username) => runJson(api.db.url, ["user", "disable", "--user", username]), WRONG],
      [(id) => api.db.sql`delete from users where id = ${id}`, WRONG],
    ];
    for (const [change, outcome] of changes) {
      const { account, secret } = await withTotp(api, clock, await makeAccount(api));
      const token = await tokenOf(api, account);
      await change(account.id, account.username);
      clock.step();
      const code = clock.code(secret);
      expect(await outcomeOf(await secondStep(api, { ...token, code }))).toBe(outcome);
    }
  });
});

describe("without a second factor", () => {
  test("signing in takes one step, and the session does not count as verified by a factor", async () => {
    await using place = await open();
    const { api } = place;
    const account = await makeAccount(api);
    await signIn(api, account);
    const [row] = await api.db.sql`select factor_at from sessions where user_id = ${account.id}`;
    expect(row).toEqual({ factorAt: null });
    expect(await api.db.sql`select 1 from factor_challenges`).toHaveLength(0);
  });

  test("a session that an older release created for a user with a factor is refused", async () => {
    await using place = await open();
    const { api, clock } = place;
    const { account, key } = await withTotp(api, clock, await makeAccount(api));
    const { token } = await api.make.session({ userId: account.id });
    expect((await api.request("/api/v1/auth/me", { key: token })).status).toBe(401);
    expect((await api.request("/api/v1/auth/me", { key })).status).toBe(200);
  });
});

test("a completed sign-in deletes expired challenges", async () => {
  await using place = await open();
  const { api, clock } = place;
  const { account, secret } = await withTotp(api, clock, await makeAccount(api));
  for (let round = 0; round < 3; round += 1) await firstStep(api, account);
  await api.db.sql`update factor_challenges set expires_at = now() - interval '1 second'`;
  clock.step();
  await signInWithCode(api, account, clock.code(secret));
  expect(await api.db.sql`select 1 from factor_challenges`).toHaveLength(0);
});

async function tokenOf(...given: Parameters<typeof firstStep>): Promise<{ loginToken: string }> {
  const { loginToken } = await firstStep(...given);
  return { loginToken };
}
