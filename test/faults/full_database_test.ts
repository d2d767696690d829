/** PostgreSQL's disk is full: writes fail until it has space again, and reads and exports continue. */
import { expect, test } from "bun:test";
import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { agentYaml, publishAgent } from "../helpers/definitions/definitions.ts";
import { exportDataset, makeExportProject } from "../helpers/exports/export_project.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { OwnServer } from "../helpers/postgres/own_server.ts";
import { mountSmallDisk, type SmallDisk } from "../helpers/process/small_disk.ts";

/** Moves the rows of a table, but not its indexes, to a small disk. */
async function moveTo(
  disk: SmallDisk,
  { table, server, db }: { table: string; server: OwnServer; db: TestDatabase },
) {
  const place = join(disk.directory, "tablespace");
  mkdirSync(place);
  const { uid, gid } = statSync(join(server.directory, "postgres"));
  chownSync(place, uid, gid);
  await db.admin.unsafe(`create tablespace small location '${place}'`);
  await db.admin.unsafe(`alter table ${table} set tablespace small`);
}

test("while PostgreSQL is out of disk space, writes get a 503 with Retry-After, but reads and exports succeed", async () => {
  await using disk = mountSmallDisk(16);
  await using server = new OwnServer();
  const url = await server.start();
  await using app = await openTestApp({ database: await openTestDatabase(url) });
  const made = await makeExportProject(app);
  await moveTo(disk, { table: "definitions", server, db: app.db });
  const create = (name: string) =>
    app.request(`/api/v1/definitions/agent/${name}`, {
      method: "POST",
      key: made.person.key,
      headers: { "x-org-slug": made.person.org.slug },
      body: { yaml: agentYaml(name) },
    });
  expect((await create("first")).status).toBe(201);
  disk.fill();
  let refused: Response | null = null;
  // Writes succeed until the table's allocated pages are full.
  for (let n = 0; n < 200 && refused === null; n += 1) {
    const response = await create(`agent-${n}`);
    if (response.status !== 201) refused = response;
  }
  expect(refused?.status).toBe(503);
  expect(refused?.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(await refused?.json()).toMatchObject({ error: { code: "SERVICE_UNAVAILABLE" } });
  const read = await app.request("/api/v1/definitions/agent/first@1.0.0", { key: made.person.key });
  expect(read.status).toBe(200);
  const exported = await exportDataset(app, made, "issues");
  expect([exported.status, (await exported.text()).length > 0]).toEqual([200, true]);
  disk.free();
  expect((await create("last")).status).toBe(201);
});

test("GET /events serves earlier events while the disk is full, and newer events once there is space again", async () => {
  await using disk = mountSmallDisk(16);
  await using server = new OwnServer();
  const url = await server.start();
  await using app = await openTestApp({ database: await openTestDatabase(url) });
  await publishAgent(app, await app.make.person(), { name: "reviewer", visibility: "public" });
  const listEvents = () => app.request("/api/v1/events");
  const countEvents = async () =>
    ((await (await listEvents()).json()) as { data: { events: unknown[] } }).data.events.length;
  expect(await countEvents()).toBe(1);
  await moveTo(disk, { table: "events", server, db: app.db });
  disk.fill();
  // Fills the table's allocated pages, so that no event has room for its position.
  let copies = 0;
  const copy = () =>
    app.db.sql`
      insert into events (type, is_public, org_id, definition_id, data)
      select type, is_public, org_id, definition_id, data from events limit 1`.then(
      () => true,
      () => false,
    );
  while (copies < 1000 && (await copy())) copies += 1;
  expect(copies).toBeGreaterThan(0);
  expect((await listEvents()).status).toBe(200);
  expect(await countEvents()).toBe(1);
  disk.free();
  expect(await countEvents()).toBe(Math.min(50, 1 + copies));
});
