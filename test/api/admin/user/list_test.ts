import { expect, test } from "bun:test";
import { insertTotpFactor } from "../../../../sql/accounts/second_factors.ts";
import { runCommand, runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

test("user list and user show print accounts without secrets", async () => {
  await using api = await openTestApp();
  const { user, org, personalOrg, keyId } = await api.make.person({ role: "publisher" });
  const session = await api.make.session({ userId: user.id });
  await api.make.key({ userId: user.id, revokedAt: "2026-01-01T00:00:00.000Z" });
  const factor = { userId: user.id, name: "Blue phone", secret: Buffer.from("quince-secret"), lastStep: 0 };
  const { id: factorId } = await insertTotpFactor(api.db.sql, factor);
  const newest = await api.make.user();
  const { users } = await runJson<{ users: object[] }>(api.db.url, ["user", "list"]);
  const row = {
    id: user.id,
    username: user.username,
    email: user.email,
    name: null,
    platformRole: "user",
    disabledAt: null,
    createdAt: expect.any(String),
  };
  expect(users).toEqual([expect.objectContaining({ id: newest.id }), row]);
  const shown = await runJson(api.db.url, ["user", "show", "--user", user.username]);
  expect(shown).toMatchObject(row);
  expect(shown["organizations"]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ slug: org.slug, role: "publisher" }),
      expect.objectContaining({ slug: personalOrg.slug, role: "owner" }),
    ]),
  );
  expect(shown["keys"]).toEqual([expect.objectContaining({ id: keyId, kind: "user", scope: "write" })]);
  expect(shown["sessions"]).toEqual([expect.objectContaining({ id: session.id, address: null })]);
  expect(shown["secondFactors"]).toEqual([
    { id: factorId, kind: "totp", name: "Blue phone", createdAt: expect.any(String), lastUsedAt: null },
  ]);
  expect(JSON.stringify(shown)).not.toContain("argon2id");
  const { out } = await runCommand(api.db.url, ["user", "show", "--user", user.username]);
  for (const text of [user.email, org.slug, keyId, session.id, "Blue phone"]) expect(out).toContain(text);
});
