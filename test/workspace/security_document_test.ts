/** The commands in SECURITY.md exist, and its SQL statements revoke all access that a leaked database gives. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { parseCommandLine } from "../../api/admin/command/command_line.ts";
import { COMMANDS } from "../../api/admin/commands.ts";
import { makeAccount } from "../helpers/accounts/accounts.ts";
import { Clock, withPasskey, withTotp } from "../helpers/accounts/factors.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { ROOT } from "./source_files.ts";

const page = await Bun.file(join(ROOT, "SECURITY.md")).text();
const [, afterLeak = ""] = page.split("## After a leak\n");

test("the admin commands that SECURITY.md gives for use after a leak exist", () => {
  const commands = [...afterLeak.matchAll(/`(?:bun run admin )?((?:user|key|session|audit|org) [^`]*)`/g)];
  expect(commands.length).toBeGreaterThan(9);
  for (const [, words = ""] of commands) {
    expect(parseCommandLine(COMMANDS, words.split(/\s+/))).toMatchObject({ type: "command" });
  }
});

test("the SQL that SECURITY.md gives for a leaked database revokes sessions and authenticator apps, and keeps passkeys", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { key, account } = await withTotp(api, clock, await makeAccount(api));
  await withPasskey(api, await makeAccount(api));
  expect((await api.request("/api/v1/auth/me", { key })).status).toBe(200);
  const [, statements = ""] = /^```sql\n(.*?)^```$/ms.exec(afterLeak) ?? [];
  await api.db.owner.begin((tx) => tx.unsafe(statements.replace(/^(begin|commit);$/gm, "")));
  api.deps.callers.forget(account.id);
  expect((await api.request("/api/v1/auth/me", { key })).status).toBe(401);
  const [left] = await api.db.sql`
    select
      (select array_agg(kind) from second_factors) as factors,
      (select count(*)::int from recovery_codes) as codes,
      (select count(*)::int from factor_challenges) as challenges`;
  expect(left).toEqual({ factors: ["passkey"], codes: 0, challenges: 0 });
});
