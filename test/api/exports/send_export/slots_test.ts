/** Limits on concurrent exports per user, organization and process, and requests that take no slot. */
import { expect, test } from "bun:test";
import { exportDataset, makeExportProject } from "../../../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { Person, ProjectRow } from "../../../helpers/postgres/factory.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

interface Refusal {
  status: number;
  error: { code: string; message: string; details?: unknown };
}

async function errorOf(response: Response): Promise<Refusal> {
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  const { error } = (await response.json()) as { error: Refusal["error"] };
  return { status: response.status, error };
}

/** Starts an export without reading the response. */
async function begin(app: TestApp, project: ProjectRow, key: string, path = "issues"): Promise<Response> {
  return app.request(`/api/v1/export/projects/${project.id}/${path}`, { key });
}

/** Creates a project with `count` publishers in its organization. */
async function makeTeam(app: TestApp, count: number): Promise<{ project: ProjectRow; people: Person[] }> {
  const { person, project } = await makeExportProject(app);
  const people = [person];
  while (people.length < count) people.push(await app.make.person({ org: person.org, role: "publisher" }));
  return { project, people };
}

async function cancel(...responses: readonly Response[]): Promise<void> {
  for (const response of responses) await response.body?.cancel();
}

test("a user may run two exports at once across all credentials, and a third returns 429", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const { token } = await app.make.session({ userId: person.user.id });
  const { key } = await app.make.key({ userId: person.user.id, kind: "automation", scope: "read" });
  const first = await begin(app, project, person.key);
  const second = await begin(app, project, token, "bundle");
  expect([first.status, second.status]).toEqual([200, 200]);
  for (const credential of [person.key, token, key]) {
    expect(await errorOf(await begin(app, project, credential))).toEqual({
      status: 429,
      error: {
        code: "RATE_LIMITED",
        message:
          "Cannot start another export. You are running 2, the maximum per user. Wait until one ends or stop it, then retry.",
        requestId: expect.any(String),
        details: { share: "user", limit: 2 },
      } as never,
    });
  }
  const other = await app.make.person({ org: person.org });
  const others = await begin(app, project, other.key);
  expect(others.status).toBe(200);
  await first.text();
  const next = await begin(app, project, key);
  expect(next.status).toBe(200);
  await cancel(second, others, next);
});

test("an organization may use half of a process's slots, and only its own members get 429 for the next export", async () => {
  await using app = await openTestApp();
  const { project, people } = await makeTeam(app, 3);
  const [a, b, c] = people.map(({ key }) => key) as [string, string, string];
  const held = [
    await begin(app, project, a),
    await begin(app, project, a),
    await begin(app, project, b),
    await begin(app, project, b),
  ];
  expect(held.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await errorOf(await begin(app, project, c))).toMatchObject({
    status: 429,
    error: { code: "RATE_LIMITED", details: { share: "organization", limit: 4 } },
  });
  const stranger = await makeExportProject(app);
  const served = await exportDataset(app, stranger, "issues");
  expect(served.status).toBe(200);
  await cancel(...held, served);
});

test("a process without free slots returns 503, and estimates still work without a slot", async () => {
  await using app = await openTestApp({ config: { exportStreamsMax: 2, exportStreamsPerOrg: 2 } });
  const { project, people } = await makeTeam(app, 2);
  const [a, b] = people.map(({ key }) => key) as [string, string];
  const held = [await begin(app, project, a), await begin(app, project, b)];
  const { status, error } = await errorOf(await exportDataset(app, await makeExportProject(app), "issues"));
  expect([status, error.code, error.message]).toEqual([
    503,
    "SERVICE_UNAVAILABLE",
    "Cannot start another export. This server is running 2, the maximum. Retry in 5 seconds.",
  ]);
  for (let times = 0; times < 5; times += 1) {
    const estimate = await begin(app, project, a, "estimate");
    expect([estimate.status, await estimate.json()]).toMatchObject([200, { data: { syncAllowed: true } }]);
  }
  await cancel(...held);
});

test("HEAD reports whether a slot is free without taking a slot", async () => {
  await using app = await openTestApp();
  const { project, people } = await makeTeam(app, 1);
  const key = people[0]?.key ?? "";
  const head = async (path: string) => {
    const url = `/api/v1/export/projects/${project.id}/${path}`;
    return (await app.request(url, { method: "HEAD", key })).status;
  };
  const heads = ["issues", "bundle", "issues", "bundle"];
  expect(await Promise.all(heads.slice(0, 2).map(head))).toEqual([200, 200]);
  const held = [await begin(app, project, key), await begin(app, project, key)];
  expect(held.map(({ status }) => status)).toEqual([200, 200]);
  for (const path of heads) expect([path, await head(path)]).toEqual([path, 429]);
  await cancel(...held);
  for (const path of heads) expect([path, await head(path)]).toEqual([path, 200]);
});

test("a user's third concurrent estimate is refused, and estimates work again once the first two end", async () => {
  await using app = await openTestApp({ config: { exportPrepareTimeoutMs: 60_000 } });
  const { project, people } = await makeTeam(app, 1);
  const key = people[0]?.key ?? "";
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holding = app.db.sql.begin(async (tx) => {
    await tx`lock table issues in access exclusive mode`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const path = "estimate?as_of=2026-01-02T00:00:00Z";
  const waiting = [begin(app, project, key, path), begin(app, project, key, path)];
  await waitFor(async () => {
    const [row] = await app.db.sql<[{ count: number }]>`
      select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return row.count === 2;
  });
  expect(await errorOf(await begin(app, project, key, path))).toMatchObject({
    error: { details: { share: "user", limit: 2 } },
  });
  release.resolve();
  await holding;
  for (const response of await Promise.all(waiting)) expect(response.status).toBe(200);
  expect((await begin(app, project, key, path)).status).toBe(200);
});
