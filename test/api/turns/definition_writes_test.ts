/** While writes to definitions wait for a row lock, they use few connections. */
import { expect, test } from "bun:test";
import { WRITES_WAITING_MAX } from "../../../api/turns.ts";
import { lockTransaction } from "../../../sql/locks.ts";
import {
  agentNeeding,
  agentYaml,
  ask,
  createAgent,
  errorOf,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { listWaiting } from "../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../helpers/wait_for.ts";

/** The limit on concurrent writes per caller: a quarter of the connections, rounded down. */
const RUNNING = 2;

const config = { databasePoolMax: 10 };

test("writes that wait for a publication leave connections for other callers, and too many writes are refused", async () => {
  await using api = await openTestApp({ config });
  const [person, other] = [await api.make.person(), await api.make.person()];
  await publishAgent(api, person, { name: "base" });
  await createAgent(api, person, { name: "slow", yaml: agentNeeding("slow", ["base@^1.0.0"]) });
  const deprecations: Promise<Response>[] = [];
  let publication: Promise<Response> | undefined;
  await api.db.owner.begin(async (tx) => {
    await lockTransaction(tx, "dependencyGraph");
    publication = write(api, "/agent/slow@1.0.0/publish", person);
    await waitFor(async () => (await listWaiting(api.db.admin)).length === 1);
    const settled: Response[] = [];
    for (let n = 0; n <= RUNNING + WRITES_WAITING_MAX; n += 1) {
      const deprecation = write(api, "/agent/slow@1.0.0/deprecate", person, { body: { reason: "Old" } });
      deprecations.push(deprecation);
      void deprecation.then((response) => settled.push(response));
    }
    const refused = await waitFor(() => settled[0]);
    expect(refused.headers.get("retry-after")).toBe("2");
    const limit = RUNNING + WRITES_WAITING_MAX;
    expect(await errorOf(refused)).toEqual([429, "RATE_LIMITED", { share: "user", limit }]);
    await waitFor(async () => (await listWaiting(api.db.admin)).length === 1 + RUNNING);
    expect((await ask(api, "/agent/slow@1.0.0", person)).status).toBe(200);
    await publishAgent(api, other, { name: "free" });
    expect(await listWaiting(api.db.admin)).toHaveLength(1 + RUNNING);
    expect(settled).toHaveLength(1);
  });
  expect((await publication)?.status).toBe(200);
  const statuses = (await Promise.all(deprecations)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(RUNNING + WRITES_WAITING_MAX - 1);
});

test("every kind of write to a definition counts toward the caller's limit", async () => {
  await using api = await openTestApp({ config });
  const [person, other] = [await api.make.person(), await api.make.person()];
  await createAgent(api, person, { name: "reviewer" });
  await publishAgent(api, person, { name: "source" });
  const version = "/agent/reviewer@1.0.0";
  const sends: readonly (() => Promise<Response>)[] = [
    () => ask(api, version, person, { method: "PUT", body: { displayName: "Other" } }),
    () => write(api, `${version}/deprecate`, person, { body: { reason: "Old" } }),
    () => write(api, `${version}/archive`, person),
    () => write(api, `${version}/retranslate`, person, { body: {} }),
    () => write(api, "/agent/reviewer/upgrade", person, { body: { yaml: agentYaml("reviewer") } }),
    () => write(api, "/agent/source/fork", person, { body: { name: "copy" } }),
    () => write(api, "/agent/reviewer", person, { body: { yaml: agentYaml("reviewer", "2.0.0") } }),
    () => ask(api, version, person, { method: "DELETE" }),
  ];
  for (const send of sends) {
    const writes: Promise<Response>[] = [];
    await api.db.owner.begin(async (tx) => {
      await tx`select from definitions for update`;
      await tx`select from definition_lines for update`;
      for (let n = 0; n < 2 * RUNNING; n += 1) writes.push(send());
      const counts: number[] = [];
      await waitFor(async () => {
        counts.push((await listWaiting(api.db.admin)).length);
        return counts.at(-1) === RUNNING;
      });
      // During this request, a write over the limit would reach the lock.
      for (let n = 0; n < RUNNING; n += 1) {
        expect((await ask(api, "/agent/source", other)).status).toBe(404);
        counts.push((await listWaiting(api.db.admin)).length);
      }
      expect(Math.max(...counts)).toBe(RUNNING);
    });
    await Promise.all(writes);
  }
});
