import { expect, test } from "bun:test";
import type { Sql } from "../../../../sql/connection/pool.ts";
import { lockTransaction } from "../../../../sql/locks.ts";
import {
  agentNeeding,
  agentYaml,
  ask,
  createAgent,
  errorOf,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { makeForest } from "../../../helpers/definitions/forest.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const YAML = { "content-type": "application/yaml" };

async function waitForLocks({ db }: TestApp, count: number): Promise<void> {
  await waitFor(async () => {
    const rows = await db.admin`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length === count;
  });
}

function lockLineOf(tx: Sql, name: string) {
  return tx`select from definition_lines where name = ${name} for no key update`;
}

test("a batch waiting for a line does not block other organizations' publications, and no publication blocks a validation", async () => {
  await using api = await openTestApp({ config: { databasePoolMax: 10 } });
  const [person, other] = [await api.make.person(), await api.make.person()];
  await publishAgent(api, person, { name: "base", visibility: "public" });
  await createAgent(api, other, { name: "top", yaml: agentNeeding("top", ["base@^1.0.0"]) });
  const stream = [agentYaml("base", "1.1.0"), agentNeeding("next", ["base@^1.1.0"])].join("---\n");
  const batch = await api.db.owner.begin(async (tx) => {
    await lockLineOf(tx, "base");
    const waiting = write(api, "/batch?publish=true", person, { headers: YAML, body: stream });
    await waitForLocks(api, 1);
    expect((await write(api, "/agent/top@1.0.0/publish", other)).status).toBe(200);
    return { waiting };
  });
  expect((await batch.waiting).status).toBe(201);
  await api.db.owner.begin(async (tx) => {
    await lockTransaction(tx, "dependencyGraph");
    const yaml = agentNeeding("later", ["base@^1.0.0"]);
    const response = await write(api, "/validate", other, { body: { type: "agent", yaml, publish: true } });
    expect(await response.json()).toMatchObject({ data: { valid: true, errors: [] } });
  });
});

test("a batch that deadlocks with a fork succeeds, and the fork either succeeds or returns 409", async () => {
  await using api = await openTestApp({ config: { databasePoolMax: 10 } });
  const person = await api.make.person();
  await publishAgent(api, person, { name: "alpha" });
  await createAgent(api, person, { name: "middle" });
  const names = ["alpha", "middle", "zulu"];
  const body = names.map((name) => agentYaml(name, "2.0.0")).join("---\n");
  const { batch, fork } = await api.db.owner.begin(async (tx) => {
    await lockLineOf(tx, "middle");
    const batch = write(api, "/batch", person, { headers: YAML, body });
    await waitForLocks(api, 1);
    const fork = write(api, "/agent/alpha/fork", person, { body: { name: "zulu" } });
    await waitForLocks(api, 2);
    return { batch, fork };
  });
  expect((await batch).status).toBe(201);
  // If PostgreSQL aborts the fork to resolve the deadlock, the batch takes the name "zulu" before the fork is retried.
  expect([201, 409]).toContain((await fork).status);
  await waitFor(async () => {
    const [row] = await api.db.admin<[{ deadlocks: number }]>`
      select deadlocks from pg_stat_database where datname = current_database()`;
    return row.deadlocks > 0;
  });
});

test("a batch with too many dependencies for a cycle search is refused, and nothing is stored", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await makeForest(api.db, person, 12_000);
  const body = Array.from({ length: 200 }, (_, n) => agentNeeding(`top-${n}`, ["node-1@^1.0.0"])).join(
    "---\n",
  );
  const response = await write(api, "/batch?publish=true", person, { headers: YAML, body });
  expect((await errorOf(response)).slice(0, 2)).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect(response.headers.get("retry-after")).toBe("2");
  const rows = await api.db.sql`select from definition_lines where name like 'top-%'`;
  expect(rows).toHaveLength(0);
});

test("a batch that waits ten seconds for a locked line is refused, and nothing is stored", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "held" });
  const body = ["free", "held"].map((name) => agentYaml(name, "2.0.0")).join("---\n");
  await api.db.owner.begin(async (tx) => {
    await lockLineOf(tx, "held");
    const response = await write(api, "/batch", person, { headers: YAML, body });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      error: {
        code: "SERVICE_UNAVAILABLE",
        message:
          "A step of the batch took longer than 10 seconds. Nothing was stored. Try again later, or send fewer documents.",
      },
    });
    expect(response.headers.get("retry-after")).toBe("5");
  });
  const stored = await api.db.sql`select name, version from definitions`;
  expect([...stored]).toEqual([{ name: "held", version: "1.0.0" }]);
  expect((await write(api, "/batch", person, { headers: YAML, body })).status).toBe(201);
});

test.each([
  [["1.0.0", "1.1.0", "2.0.0", "2.0.1"]],
  [["2.0.1", "2.0.0", "1.1.0", "1.0.0"]],
  [["1.1.0", "2.0.1", "1.0.0", "2.0.0"]],
])(
  "change types do not depend on the order in which a batch lists the versions of a name: %p",
  async (versions) => {
    await using api = await openTestApp();
    const person = await api.make.person();
    const body = versions.map((version) => agentYaml("reviewer", version)).join("---\n");
    expect((await write(api, "/batch?publish=true", person, { headers: YAML, body })).status).toBe(201);
    const response = await ask(api, "/agent/reviewer/versions", person);
    expect(await response.json()).toMatchObject({
      data: {
        versions: [
          { version: "2.0.1", changeType: "patch" },
          { version: "2.0.0", changeType: "major" },
          { version: "1.1.0", changeType: "minor" },
          { version: "1.0.0", changeType: "major" },
        ],
      },
    });
  },
);
