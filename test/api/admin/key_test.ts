import { expect, test } from "bun:test";
import { hashSecret } from "../../../api/http/credentials.ts";
import { createUser, runCommand, runFailing, runJson } from "../../helpers/accounts/admin.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

test("key create prints the key, stores its hash and keeps the key out of the audit log", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  const expires = "2100-01-31T12:00:00+02:00";
  const key = await runJson<{ key: string; prefix: string }>(db.url, [
    ...["key", "create", "--user", "ann", "--org", "ann", "--kind", "system", "--scope", "read"],
    ...["--name", "nightly", "--expires", expires],
  ]);
  expect(key).toMatchObject({ kind: "system", scope: "read" });
  expect(key.key).toMatch(/^ulr_[A-Za-z0-9_-]{32,}$/);
  expect(key.key).toStartWith(key.prefix);
  const [row] = await db.sql`select key_hash, name, expires_at, org_id is not null as is_bound from api_keys`;
  expect(row).toMatchObject({ name: "nightly", expiresAt: "2100-01-31T10:00:00.000Z", isBound: true });
  expect(row?.["keyHash"]).toEqual(hashSecret(key.key));
  const logged = await db.sql`select details::text as details from audit_log`;
  expect(JSON.stringify(logged)).not.toContain(key.key);
});

test("key create defaults to kind user and scope write, and binds keys only to the user's organizations", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  expect(await runJson(db.url, ["key", "create", "--user", "ann"])).toMatchObject({
    kind: "user",
    scope: "write",
  });
  expect(await runFailing(db.url, ["key", "create", "--user", "ann", "--org", "acme"])).toContain(
    'User "ann" is not a member of organization "acme"',
  );
  expect(await runFailing(db.url, ["key", "create", "--user", "bob"])).toContain(
    'User "bob" not found. See the usernames in `bun run admin user list`.',
  );
});

test("key create accepts an expiry in the past and notes that the key has already expired", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  const words = ["key", "create", "--user", "ann", "--expires", "2020-01-01"];
  const { exitCode, err } = await runCommand(db.url, words);
  expect([exitCode, err]).toEqual([0, "Note: the key has already expired\n"]);
  expect([...(await db.sql`select expires_at from api_keys`)]).toEqual([
    { expiresAt: "2020-01-01T00:00:00.000Z" },
  ]);
});

test("key create refuses invalid names and expiry times", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  const create = async (...flags: string[]) => {
    const { exitCode, err } = await runCommand(db.url, ["key", "create", "--user", "ann", ...flags]);
    return [exitCode, err];
  };
  expect(await create("--name", "two\nlines")).toEqual([
    2,
    "--name must be one line without control characters; it contains U+000A\n",
  ]);
  expect(await create("--name", "a".repeat(201))).toEqual([2, "--name must have at most 200 characters\n"]);
  for (const time of ["tomorrow", "2100-01-31T12:00:00", "2100-02-30", "2100-02-30T12:00:00Z"]) {
    expect(await create("--expires", time)).toEqual([
      2,
      "--expires must be ISO 8601, such as 2027-01-31 or 2027-01-31T12:00:00Z\n",
    ]);
  }
  expect(await db.sql`select from api_keys`).toHaveLength(0);
});

test("key revoke prints the revocation time, and the same time when repeated", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  const { id } = await runJson<{ id: string }>(db.url, ["key", "create", "--user", "ann"]);
  const revoked = await runJson(db.url, ["key", "revoke", "--id", id]);
  expect(revoked).toEqual({ id, revokedAt: expect.stringMatching(INSTANT) });
  expect(await runJson(db.url, ["key", "revoke", "--id", id])).toEqual(revoked);
  expect(await runFailing(db.url, ["key", "revoke", "--id", crypto.randomUUID()])).toContain("not found");
});

test("key create refuses a user's 101st live key", async () => {
  await using api = await openTestApp();
  const { user } = await api.make.person();
  for (let made = 1; made < 100; made += 1) await api.make.key({ userId: user.id });
  const { exitCode, err } = await runCommand(api.db.url, ["key", "create", "--user", user.username]);
  expect([exitCode, err]).toEqual([1, expect.stringContaining("has 100 API keys, the maximum")]);
});

test("key list sorts keys newest first", async () => {
  await using api = await openTestApp();
  const { user, keyId } = await api.make.person();
  const key = await api.make.key({ userId: user.id });
  const { keys } = await runJson<{ keys: object[] }>(api.db.url, ["key", "list", "--user", user.username]);
  expect(keys).toMatchObject([{ id: key.id, lastUsedAt: null }, { id: keyId }]);
});
