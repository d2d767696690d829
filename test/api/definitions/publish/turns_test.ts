import { expect, test } from "bun:test";
import { lockTransaction } from "../../../../sql/locks.ts";
import {
  agentNeeding,
  ask,
  createAgent,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const RUNNING = 2;
const WAITING = 20;

test("publications beyond one caller's share are refused, while another caller can read and publish", async () => {
  await using api = await openTestApp({ config: { databasePoolMax: 10 } });
  const [person, other] = [await api.make.person(), await api.make.person()];
  await publishAgent(api, person, { name: "base" });
  const names = Array.from({ length: RUNNING + WAITING + 1 }, (_, at) => `needing-${at}`);
  for (const name of names)
    await createAgent(api, person, { name, yaml: agentNeeding(name, ["base@^1.0.0"]) });
  await createAgent(api, other, { name: "free" });

  const publications: Promise<Response>[] = [];
  await api.db.owner.begin(async (tx) => {
    await lockTransaction(tx, "dependencyGraph");
    const settled: Response[] = [];
    for (const name of names) {
      const publication = write(api, `/agent/${name}@1.0.0/publish`, person);
      publications.push(publication);
      void publication.then((response) => settled.push(response));
    }
    await waitFor(async () => {
      const rows = await api.db.admin`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'`;
      return rows.length === RUNNING && settled.length > 0;
    });
    expect(settled.map(({ status }) => status)).toEqual([429]);
    expect(settled[0]?.headers.get("retry-after")).toBe("2");
    expect(await settled[0]?.clone().json()).toMatchObject({
      error: { code: "RATE_LIMITED", details: { share: "user", limit: RUNNING + WAITING } },
    });
    expect((await ask(api, "/agent/free@1.0.0", other)).status).toBe(200);
    expect((await write(api, "/agent/free@1.0.0/publish", other)).status).toBe(200);
    expect(settled).toHaveLength(1);
  });
  const statuses = (await Promise.all(publications)).map(({ status }) => status).sort();
  expect(statuses).toEqual([...names.slice(1).map(() => 200), 429]);
});
