import { expect, test } from "bun:test";
import { mintApiKey } from "../../../api/http/credentials.ts";
import {
  findKeyCaller,
  insertApiKey,
  markApiKeyRevoked,
  updateApiKeyLastUsed,
} from "../../../sql/accounts/api_keys.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";

async function makeKey(db: TestDatabase, expiresAt: string | null = null) {
  const make = createFactory(db.sql);
  const [user, org] = [await make.user(), await make.org()];
  const { hash, prefix } = mintApiKey();
  const row = await insertApiKey(db.sql, {
    userId: user.id,
    orgId: org.id,
    kind: "automation",
    scope: "read",
    name: "nightly",
    prefix,
    keyHash: hash,
    expiresAt,
  });
  return { user, org, hash, row };
}

test("insertApiKey() stores a key that findKeyCaller() finds with its owner", async () => {
  await using db = await openTestDatabase();
  const { user, org, hash, row } = await makeKey(db, "2999-01-01T00:00:00.000Z");
  expect(row).toMatchObject({ name: "nightly", lastUsedAt: null, kind: "automation" });
  expect(await findKeyCaller(db.sql, hash)).toEqual({
    userId: user.id,
    username: user.username,
    platformRole: "user",
    keyId: row.id,
    kind: "automation",
    scope: "read",
    orgId: org.id,
    expiresAt: "2999-01-01T00:00:00.000Z",
    expiresInMs: expect.any(Number),
    isUseStale: true,
  });
});

test("findKeyCaller() does not find unknown, expired or revoked keys", async () => {
  await using db = await openTestDatabase();
  const expired = await makeKey(db, "2020-01-01T00:00:00.000Z");
  const revoked = await makeKey(db);
  await markApiKeyRevoked(db.sql, { id: revoked.row.id });
  for (const hash of [mintApiKey().hash, expired.hash, revoked.hash]) {
    expect(await findKeyCaller(db.sql, hash)).toBeNull();
  }
});

test("markApiKeyRevoked() keeps the time of the first revocation, and returns null for an unknown key", async () => {
  await using db = await openTestDatabase();
  const { row } = await makeKey(db);
  const first = await markApiKeyRevoked(db.sql, { id: row.id });
  expect(first).toEqual({ id: row.id, orgId: row.organizationId, revokedAt: expect.any(String) });
  await db.sql`update api_keys set revoked_at = revoked_at - interval '1 day'`;
  const [earlier] = await db.sql<[{ revokedAt: string }]>`select revoked_at from api_keys`;
  expect(await markApiKeyRevoked(db.sql, { id: row.id })).toEqual({
    id: row.id,
    orgId: row.organizationId,
    ...earlier,
  });
  expect(await markApiKeyRevoked(db.sql, { id: crypto.randomUUID() })).toBeNull();
});

test("updateApiKeyLastUsed() writes at most once a minute", async () => {
  await using db = await openTestDatabase();
  const { hash, row } = await makeKey(db);
  const lastUsedAt = async () => {
    const [found] = await db.sql<[{ lastUsedAt: string | null }]>`select last_used_at from api_keys`;
    return found.lastUsedAt;
  };
  await updateApiKeyLastUsed(db.sql, row.id);
  expect(await lastUsedAt()).not.toBeNull();
  expect(await findKeyCaller(db.sql, hash)).toMatchObject({ isUseStale: false });
  await db.sql`update api_keys set last_used_at = now() - interval '59 seconds'`;
  const recent = await lastUsedAt();
  await updateApiKeyLastUsed(db.sql, row.id);
  expect(await lastUsedAt()).toBe(recent);
  await db.sql`update api_keys set last_used_at = now() - interval '61 seconds'`;
  expect(await findKeyCaller(db.sql, hash)).toMatchObject({ isUseStale: true });
  const stale = await lastUsedAt();
  await updateApiKeyLastUsed(db.sql, row.id);
  expect(await lastUsedAt()).not.toBe(stale);
});
