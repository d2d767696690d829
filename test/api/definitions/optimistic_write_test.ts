import { expect, test } from "bun:test";
import { ask, createAgent, errorOf } from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import type { Person } from "../../helpers/postgres/factory.ts";

/** The maximum number of attempts per write. */
const MAX_TRIES = 5;

/**
 * Simulates another writer that changes the draft during each of the first `times` reads of a document. Returns a counter of the
 * reads.
 */
function overtake(api: TestApp, times: number): { reads: number } {
  const { documents } = api.deps;
  const { forCaller } = documents;
  const count = { reads: 0 };
  documents.forCaller = (caller) => {
    const work = forCaller(caller);
    return {
      ...work,
      async read(given) {
        count.reads += 1;
        if (count.reads <= times)
          await api.db.sql`update definitions set yaml = yaml || ${`# ${count.reads}\n`}`;
        return work.read(given);
      },
    };
  };
  return count;
}

async function versionOf(api: TestApp) {
  const [row] = await api.db.sql`select status, display_name, yaml from definitions`;
  return row;
}

async function auditedActions(api: TestApp): Promise<string[]> {
  const rows = await api.db.sql<{ action: string }[]>`select action from audit_log order by id`;
  return rows.map(({ action }) => action);
}

const WRITES: readonly [string, (api: TestApp, person: Person) => Promise<Response>][] = [
  [
    "PUT",
    (api, person) =>
      ask(api, "/agent/reviewer@1.0.0", person, { method: "PUT", body: { displayName: "Slow" } }),
  ],
  ["publish", (api, person) => ask(api, "/agent/reviewer@1.0.0/publish", person, { method: "POST" })],
];

for (const [name, send] of WRITES) {
  test(`${name} gives up after five conflicts with other writers and writes nothing`, async () => {
    await using api = await openTestApp();
    const person = await api.make.person();
    await createAgent(api, person, { name: "reviewer" });
    const before = await versionOf(api);
    const count = overtake(api, Number.POSITIVE_INFINITY);
    const response = await send(api, person);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await errorOf(response)).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(count.reads).toBe(MAX_TRIES);
    expect(await versionOf(api)).toEqual({ ...before, yaml: `${before?.["yaml"]}# 1\n# 2\n# 3\n# 4\n# 5\n` });
    expect(await auditedActions(api)).toEqual(["definition.create"]);
  });

  test(`${name} succeeds on its fifth attempt, on top of the other writers' changes`, async () => {
    await using api = await openTestApp();
    const person = await api.make.person();
    const { yaml } = await createAgent(api, person, { name: "reviewer" });
    const count = overtake(api, MAX_TRIES - 1);
    const response = await send(api, person);
    expect(response.status).toBe(200);
    expect(count.reads).toBe(MAX_TRIES);
    const after = await versionOf(api);
    expect(after?.["yaml"]).toBe(
      `${name === "PUT" ? yaml?.replace("displayName: Reviewer", "displayName: Slow") : yaml}# 1\n# 2\n# 3\n# 4\n`,
    );
    expect(after).toMatchObject(name === "PUT" ? { displayName: "Slow" } : { status: "published" });
  });
}
