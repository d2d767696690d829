/** The dependents that a validation reports as broken. */
import { expect, test } from "bun:test";
import { agentNeeding, agentYaml, publishAgent, write } from "../../../../helpers/definitions/definitions.ts";
import { makeReferencesSlow } from "../../../../helpers/definitions/slow_references.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";
import type { Person } from "../../../../helpers/postgres/factory.ts";

/** Validates versions of agents as one batch. */
function validate(
  api: TestApp,
  person: Person,
  agents: readonly (readonly [name: string, version: string])[],
) {
  const definitions = agents.map(([name, version]) => ({ yaml: agentYaml(name, version) }));
  return write(api, "/batch", person, { body: { definitions, validate: true } });
}

interface Reports {
  data: { definitions: { breaks: { name: string; range: string }[] }[] };
}

test("a batch validation queries a line's ranges once, and its dependents once per set of broken ranges", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (const name of ["base", "other"]) {
    await publishAgent(api, person, { name });
    for (const [n, range] of ["^1.0.0", "~1.0.0"].entries()) {
      const user = `${name}-${n + 1}`;
      await publishAgent(api, person, { name: user, yaml: agentNeeding(user, [`${name}@${range}`]) });
    }
  }
  const majors = Array.from({ length: 3 }, (_, n) => ["base", `2.0.${n}`] as const);
  const statements: string[] = [];
  api.deps.sql.options.debug = (_connection, text) => void statements.push(text);
  const agents = [...majors, ["base", "1.1.0"], ["base", "1.0.1"], ["other", "2.0.0"]] as const;
  const response = await validate(api, person, agents);
  api.deps.sql.options.debug = false;
  expect(response.status).toBe(200);
  const { data } = (await response.json()) as Reports;
  const found = data.definitions.map(({ breaks }) => breaks.map(({ name, range }) => `${name} ${range}`));
  const major = ["base-1 ^1.0.0", "base-2 ~1.0.0"];
  expect(found).toEqual([
    ...majors.map(() => major),
    ["base-2 ~1.0.0"],
    [],
    ["other-1 ^1.0.0", "other-2 ~1.0.0"],
  ]);
  const count = (part: string) => statements.filter((text) => text.includes(part)).length;
  expect([count("group by r.range"), count("r.range = any(")]).toEqual([2, 3]);
});

test("a validation whose dependents take too long to resolve returns 503 and leaves no query running", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "base" });
  for (const n of [1, 2, 3, 4, 5, 6]) {
    const name = `user-${n}`;
    await publishAgent(api, person, { name, yaml: agentNeeding(name, ["base@^1.0.0"]) });
  }
  await makeReferencesSlow(api.db, { name: "base", seconds: 1 });
  const statements: string[] = [];
  api.deps.sql.options.debug = (_connection, text) => void statements.push(text);
  const response = await validate(api, person, [["base", "2.0.0"]]);
  api.deps.sql.options.debug = false;
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({
    error: {
      code: "SERVICE_UNAVAILABLE",
      message: "Resolving the references took longer than 5 seconds. Try again later.",
    },
  });
  expect(statements.filter((text) => text.includes("r.range = any("))).toEqual([]);
  const running = await api.db.admin`
    select query
    from pg_stat_activity
    where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`;
  expect([...running]).toEqual([]);
});
