import { expect, test } from "bun:test";
import { ask, type Caller, errorOf, makeDefinition } from "../../../../helpers/definitions/definitions.ts";
import { dataOf } from "../../../../helpers/definitions/forks.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";

test("forkable returns whether the caller can fork a definition, or the reason why not", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  const member = await api.make.person({ org: author.org, role: "viewer" });
  const stranger = await api.make.person();
  const shown = { visibility: "public" } as const;
  await makeDefinition(api.db.sql, author, { name: "fine", status: "published", ...shown });
  await makeDefinition(api.db.sql, author, { name: "fading", status: "deprecated", ...shown });
  await makeDefinition(api.db.sql, author, { name: "old", status: "archived", ...shown });
  await makeDefinition(api.db.sql, author, { name: "sketch" });
  const can = { canFork: true };
  const cannot = (reason: string) => ({ canFork: false, reason });
  const cases: readonly [string, Caller | null, unknown][] = [
    ["fine", stranger, can],
    ["fine@1.0.0", { key: stranger.key }, can],
    ["fine", null, cannot("UNAUTHENTICATED")],
    ["fine", { key: member.key, org: author.org }, cannot("INSUFFICIENT_ORG_ROLE")],
    ["fine", { key: member.key }, can],
    ["fading@1.0.0", stranger, can],
    ["fading", stranger, can],
    ["old@1.0.0", stranger, cannot("ARCHIVED")],
    ["old", stranger, cannot("ARCHIVED")],
    ["old@1.0.0", null, cannot("ARCHIVED")],
    ["old@1.0.0", author, can],
    ["sketch", author, cannot("NOT_PUBLISHED")],
    ["sketch@1.0.0", author, can],
    ["sketch@1.0.0", { key: member.key, org: author.org }, cannot("INSUFFICIENT_ORG_ROLE")],
  ];
  for (const [path, caller, expected] of cases) {
    for (const query of ["", "?canForkAsPrivate=true", "?canForkAsPrivate=false"]) {
      const data = await dataOf(await ask(api, `/agent/${path}/forkable${query}`, caller));
      expect([path, query, data]).toStrictEqual([path, query, expected as Record<string, unknown>]);
    }
  }
  const refused: readonly [string, Caller | null, number, string][] = [
    ["nobody", null, 404, "NOT_FOUND"],
    ["sketch", stranger, 404, "NOT_FOUND"],
    ["fine@9.0.0", stranger, 404, "NOT_FOUND"],
    ["Fine", stranger, 400, "VALIDATION_ERROR"],
    ["fine", { key: stranger.key, org: author.org }, 403, "ORG_ACCESS_DENIED"],
  ];
  for (const [path, caller, ...expected] of refused) {
    const refusal = await errorOf(await ask(api, `/agent/${path}/forkable`, caller));
    expect([path, ...refusal.slice(0, 2)]).toEqual([path, ...expected]);
  }
  const headers = { "x-org-slug": author.org.slug };
  expect((await ask(api, "/agent/fine/forkable", null, { headers })).status).toBe(401);
});
