import { expect, test } from "bun:test";
import { walkDependencies } from "../../../../api/definitions/dependencies/walk.ts";
import { makeForest } from "../../../helpers/definitions/forest.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

test("a dependency walk from several versions can be canceled while it reads the first level", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  await makeForest(app.db, person, 1000);
  const rows = await app.db.sql<{ id: string; name: string; version: string }[]>`
    select id, name, version from definitions where version = '1.0.0' order by id limit 100`;
  const roots = rows.map((row) => ({ ...row, type: "agent" as const, organization: person.org.slug }));
  const viewer = { userId: person.user.id, boundOrgId: null } as never;
  const given = { roots, viewer, maxDepth: Number.POSITIVE_INFINITY };
  let steps = 0;
  const countStep = () => {
    steps += 1;
  };
  const complete = await walkDependencies(app.db.sql, { ...given, onStep: countStep });
  expect(complete.truncated).toBe(false);
  expect(steps).toBeGreaterThan(5);
  const stopAtSecond = () => {
    steps += 1;
    if (steps === 2) throw new Error("too long");
  };
  steps = 0;
  const walk = walkDependencies(app.db.sql, { ...given, onStep: stopAtSecond });
  expect(await walk.catch((error: unknown) => String(error))).toBe("Error: too long");
  expect(steps).toBe(2);
});
