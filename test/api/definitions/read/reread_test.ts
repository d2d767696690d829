import { expect, test } from "bun:test";
import { buildApp } from "../../../../api/app.ts";
import { createMetrics } from "../../../../api/http/metrics.ts";
import type { Definition } from "../../../../sql/definitions/fields.ts";
import { list } from "../../../helpers/definitions/definition_list.ts";
import {
  ask,
  type Caller,
  definitionOf,
  makeDefinition,
  publishAgent,
} from "../../../helpers/definitions/definitions.ts";
import { openTestApp, testRequest } from "../../../helpers/http/app.ts";

test("a repeated read reflects every committed change to its rows", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const { id } = await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const { sql } = api.db;
  const { slug } = person.org;
  const changes: readonly [Partial<Definition>, () => Promise<unknown>][] = [
    [{ executionCount: 7 }, () => sql`update definition_lines set execution_count = 7`],
    [
      { namespace: "@renamed/reviewer" },
      () => sql`update organizations set slug = 'renamed' where slug = ${slug}`,
    ],
    [
      { status: "deprecated", deprecationReason: "old" },
      () => sql`
        update definitions
        set status = 'deprecated', deprecated_at = now(), deprecation_reason = 'old'
        where id = ${id}`,
    ],
    [{ forkCount: 2, starCount: 3 }, () => sql`update definition_lines set fork_count = 2, star_count = 3`],
  ];
  const path = "/agent/reviewer@1.0.0";
  const tags = new Set<string | null>();
  for (const [changed, change] of changes) {
    await change();
    const whole = await ask(api, path, null);
    tags.add(whole.headers.get("etag"));
    expect(await definitionOf(whole)).toMatchObject(changed);
    expect(await definitionOf(await ask(api, `${path}?includeYaml=false`, null))).toMatchObject(changed);
    const { deprecationReason: _notListed, ...item } = changed;
    expect((await list(api, "latestOnly=false")).definitions).toMatchObject([item]);
    // Another client's change that is rolled back is never visible to other readers.
    const undone = sql.begin(async (tx) => {
      await tx`update definition_lines set execution_count = 99`;
      expect(await definitionOf(await ask(api, path, null))).toMatchObject(changed);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(await definitionOf(await ask(api, path, null))).toMatchObject(changed);
  }
  expect(tags.size).toBe(changes.length);
});

test("another process without earlier reads returns the same bytes and the same ETag", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (const name of ["reviewer", "tester"]) await publishAgent(api, person, { name, visibility: "public" });
  const other = buildApp({
    ...api.deps,
    metrics: createMetrics(),
  });
  for (const path of ["/agent/reviewer", ""]) {
    const request = testRequest(`http://localhost/api/v1/definitions${path}`);
    const responses = [
      await ask(api, path, null),
      await ask(api, path, null),
      await other.handle(request, "::1"),
    ];
    const seen = await Promise.all(
      responses.map(async (response) => `${response.headers.get("etag")} ${await response.text()}`),
    );
    expect(new Set(seen).size).toBe(1);
    const etag = responses[0]?.headers.get("etag") ?? "";
    const again = await ask(api, path, null, { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  }
});

test("a repeated read shows nothing to callers who never had access or have lost access", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const outsider = await api.make.person();
  await makeDefinition(api.db.sql, person, { name: "reviewer", status: "published" });
  const seenBy = async (caller: Caller | null) => [
    (await ask(api, "/agent/reviewer", caller)).status,
    (await list(api, "", caller)).total,
  ];
  const { key } = person;
  expect(await seenBy({ key })).toEqual([200, 1]);
  expect([await seenBy(null), await seenBy({ key: outsider.key })]).toEqual([
    [404, 0],
    [404, 0],
  ]);
  await api.db.sql`delete from organization_members where user_id = ${person.user.id}`;
  expect(await seenBy({ key })).toEqual([404, 0]);
});
