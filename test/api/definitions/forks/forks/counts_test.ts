import { expect, test } from "bun:test";
import { createAgent, errorOf, publishAgent, write } from "../../../../helpers/definitions/definitions.ts";
import { forkCounts, makeFork } from "../../../../helpers/definitions/forks.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";

test("of concurrent forks with the same name, only one is created, and each created fork is counted once", async () => {
  await using api = await openTestApp({ config: { rateLimitUserPerMinute: 10_000 } });
  const author = await api.make.person();
  const reader = await api.make.person();
  await publishAgent(api, author, { name: "reviewer", visibility: "public" });
  const attempt = (name: string) => write(api, "/agent/reviewer/fork", reader, { body: { name } });
  const same = await Promise.all(Array.from({ length: 20 }, () => attempt("mine")));
  expect(same.filter(({ status }) => status === 201)).toHaveLength(1);
  const refused = await Promise.all(same.filter(({ status }) => status !== 201).map(errorOf));
  expect(refused).toEqual(
    Array.from({ length: 19 }, () => [409, "NAME_TAKEN", { type: "agent", name: "mine" }]),
  );
  expect(await forkCounts(api, "reviewer", null)).toEqual([1, 1]);
  const others = await Promise.all(Array.from({ length: 20 }, (_, index) => attempt(`mine-${index}`)));
  expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
  expect(await forkCounts(api, "reviewer", null)).toEqual([21, 21]);
  const [row] = await api.db.sql`select count(*) as records from definition_forks`;
  expect(row).toEqual({ records: 21 });
});

test("creating and deleting forks concurrently leaves an exact fork count", async () => {
  await using api = await openTestApp({ config: { rateLimitUserPerMinute: 10_000 } });
  const author = await api.make.person();
  const reader = await api.make.person();
  await publishAgent(api, author, { name: "reviewer", visibility: "public" });
  const names = Array.from({ length: 12 }, (_, index) => `mine-${index}`);
  for (const name of names.slice(0, 6)) await makeFork(api, reader, "/agent/reviewer", { name });
  const statuses = await Promise.all([
    ...names.slice(0, 6).map(async (name) => {
      const gone = await write(api, `/agent/${name}@1.0.0`, reader, { method: "DELETE" });
      return gone.status;
    }),
    ...names.slice(6).map(async (name) => {
      const made = await write(api, "/agent/reviewer/fork", reader, { body: { name } });
      return made.status;
    }),
  ]);
  expect(statuses).toEqual([...Array(6).fill(200), ...Array(6).fill(201)]);
  expect(await forkCounts(api, "reviewer", null)).toEqual([6, 6]);
});

test("a draft that is deleted while being forked is either forked or not found", async () => {
  await using api = await openTestApp({ config: { rateLimitUserPerMinute: 10_000 } });
  const author = await api.make.person();
  for (let round = 0; round < 8; round += 1) {
    const name = `sketch-${round}`;
    await createAgent(api, author, { name });
    const [gone, ...made] = await Promise.all([
      write(api, `/agent/${name}@1.0.0`, author, { method: "DELETE" }),
      ...[1, 2, 3].map((copy) =>
        write(api, `/agent/${name}@1.0.0/fork`, author, { body: { name: `${name}-${copy}` } }),
      ),
    ]);
    expect(gone.status).toBe(200);
    for (const response of made) expect([201, 404]).toContain(response.status);
    const [row] = await api.db.sql`select count(*) from definition_forks where source_name = ${name}`;
    expect(row).toEqual({ count: made.filter(({ status }) => status === 201).length });
  }
});
