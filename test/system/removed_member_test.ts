/** The access that a removed member loses in another process, and the objects that the organization keeps. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { lapseHeartbeats } from "../helpers/exports/aftermath.ts";
import { jobOf, postJob } from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { addNoise } from "../helpers/exports/heavy_org.ts";
import { withHeldBuild } from "../helpers/exports/held_build.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import type { TestRequest } from "../helpers/http/app.ts";
import { type MailServer, openMailServer, parseMail } from "../helpers/network/mail_server.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Factory, type Person, type ProjectRow } from "../helpers/postgres/factory.ts";
import { listWaiting } from "../helpers/postgres/waiting_sessions.ts";
import { type ApiProcess, startApi } from "../helpers/process/api_process.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { type DataDirectory, makeDataDirectory } from "../helpers/process/stack.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** More than the socket buffers on both sides, in MiB. */
const MEBIBYTES = 16;

let db: TestDatabase;
let make: Factory;
let mail: MailServer;
let data: DataDirectory;
let env: Readonly<Record<string, string>>;
/** Members are removed through the first process and connected to the second. */
let [first, second]: ApiProcess[] = [];
beforeAll(async () => {
  [db, mail, data] = [await openTestDatabase(), await openMailServer(), makeDataDirectory()];
  make = createFactory(db.sql);
  env = {
    DATABASE_URL: db.url,
    DATA_DIR: data.path,
    SMTP_URL: mail.url,
    RATE_LIMIT_USER_PER_MINUTE: "100000",
  };
  [first, second] = await Promise.all([startApi(env), startApi(env)]);
});
afterAll(async () => {
  for (const opened of [first, second, mail, db]) await opened?.[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

interface Scene {
  owner: { token: string };
  /** A publisher with a session, a key for all organizations, and a key for this organization. */
  bob: Person & { token: string; boundKey: string };
  project: ProjectRow;
  remove(): Promise<void>;
}

async function openScene(): Promise<Scene> {
  const { person: bob, project } = await makeExportProject({ make });
  const host = await make.person({ role: "owner", org: bob.org });
  const owner = await make.session({ userId: host.user.id });
  const { token } = await make.session({ userId: bob.user.id });
  const { key: boundKey } = await make.key({ userId: bob.user.id, orgId: bob.org.id });
  return {
    owner,
    bob: { ...bob, token, boundKey },
    project,
    async remove() {
      const path = `/api/v1/orgs/${bob.org.slug}/members/${bob.user.id}`;
      const { status } = (await first?.request(path, { method: "DELETE", key: owner.token })) ?? {};
      expect(status).toBe(204);
    },
  };
}

/** Returns the status of a request to the second process, which did not remove the member. */
async function statusOf(path: string, request: TestRequest): Promise<number | undefined> {
  const response = await second?.request(`/api/v1${path}`, request);
  await response?.text();
  return response?.status;
}

test("a removed member's sessions and keys lose access in other processes too, and keys bound to the organization are revoked", async () => {
  const { bob, project, remove } = await openScene();
  const inOrg = { headers: { "x-org-slug": bob.org.slug } };
  const statuses = (key: string) =>
    Promise.all([
      statusOf(`/orgs/${bob.org.slug}/members`, { key }),
      statusOf("/events", { key, ...inOrg }),
      statusOf("/definitions", { key, ...inOrg }),
      statusOf(`/export/projects/${project.id}/issues`, { key }),
      statusOf("/auth/me", { key }),
    ]);
  for (const key of [bob.token, bob.key, bob.boundKey])
    expect(await statuses(key)).toEqual([200, 200, 200, 200, 200]);
  await remove();
  for (const key of [bob.token, bob.key]) expect(await statuses(key)).toEqual([403, 403, 403, 404, 200]);
  // Removing the member revokes the keys bound to the organization. The other process may use its cached copy for less than a
  // second.
  expect(await statusOf(`/orgs/${bob.org.slug}/members`, { key: bob.boundKey })).toBeOneOf([401, 403]);
  await waitFor(async () => (await statusOf("/auth/me", { key: bob.boundKey })) === 401);
  const me = await second?.request("/api/v1/auth/me", { key: bob.token });
  expect(await me?.text()).not.toContain(bob.org.slug);
  // A bound key stays revoked after the member joins again, because the key may have been copied.
  await make.member({ orgId: bob.org.id, userId: bob.user.id, role: "publisher" });
  expect(await statusOf(`/orgs/${bob.org.slug}/members`, { key: bob.token })).toBe(200);
  expect(await statusOf("/auth/me", { key: bob.boundKey })).toBe(401);
});

// A download's access is checked again after 25 s. The next test runs concurrently.
test.concurrent("a removed member's running downloads from the organization, by session or by key, are cut off", async () => {
  const { bob, project, remove } = await openScene();
  await addNoise(db, project, MEBIBYTES);
  const url = `${second?.url}/api/v1/export/projects/${project.id}/runs`;
  using bySession = await beginDownload(url, { authorization: `Bearer ${bob.token}` });
  using byKey = await beginDownload(url, { authorization: `Bearer ${bob.key}` });
  await remove();
  await waitFor(() => second?.logLines().filter(({ reason }) => reason === "access_ended").length === 2);
  for (const download of [bySession, byKey]) expect((await download.readOn()).isWhole).toBe(false);
});

test.concurrent("a removed member's export build continues for the organization, but the member gets no file or export mail", async () => {
  const { bob, owner, remove } = await openScene();
  if (!first) throw new Error("Cannot request an export without a process");
  const { id } = await jobOf(await postJob(first, bob));
  const [path, file] = [`/export/jobs/${id}`, `/export/jobs/${id}/download`];
  await withHeldBuild(db, env, async () => {
    expect(await statusOf(path, { key: bob.token })).toBe(200);
    await remove();
    expect(await statusOf(path, { key: bob.token })).toBe(404);
  });
  await lapseHeartbeats(db);
  await using runner = await startRunner(env);
  await waitFor(() => runner.logLines().some(({ event }) => event === "export_mail.skipped"));
  const mails = await waitFor(() => {
    const found = mail.received.filter(({ to }) => String(to) === bob.user.email);
    return found.length > 0 ? found : null;
  });
  for (const key of [bob.token, bob.key]) {
    expect([await statusOf(path, { key }), await statusOf(file, { key })]).toEqual([404, 404]);
  }
  expect([await statusOf(path, { key: owner.token }), await statusOf(file, { key: owner.token })]).toEqual([
    200, 200,
  ]);
  const subjects = await Promise.all(
    mails.map(async ({ content }) => (await parseMail(content)).headers["subject"]),
  );
  expect(subjects).toEqual([`You are no longer a member of ${bob.org.name}`]);
});

test("webhooks that a removed member created stay with the organization", async () => {
  const { bob, owner, remove } = await openScene();
  await db.sql`update organization_members set role = 'admin' where user_id = ${bob.user.id} and org_id = ${bob.org.id}`;
  const path = `/orgs/${bob.org.slug}/webhooks`;
  const body = { url: "https://example.com/hook", types: ["export.ready"] };
  expect(await statusOf(path, { method: "POST", key: bob.key, body })).toBe(201);
  await remove();
  expect(await statusOf(path, { key: bob.key })).toBe(403);
  const list = await second?.request(`/api/v1${path}`, { key: owner.token });
  expect(await list?.text()).toContain(body.url);
});

test("a request authorized before a member's removal writes nothing after the removal", async () => {
  const { bob, remove } = await openScene();
  const ann = await make.person({ org: bob.org, role: "viewer" });
  await db.sql`update organization_members set role = 'owner' where user_id = ${bob.user.id} and org_id = ${bob.org.id}`;
  const target = `/orgs/${bob.org.slug}/members/${ann.user.id}`;
  const sent: Promise<unknown>[] = [];
  await db.sql.begin(async (tx) => {
    // Both requests wait for this lock, and the removal is first in the queue.
    await tx`select from organizations where id = ${bob.org.id} for update`;
    sent.push(remove());
    await waitFor(async () => (await listWaiting(db.sql)).length === 1);
    sent.push(statusOf(target, { method: "PATCH", key: bob.token, body: { role: "admin" } }));
    await waitFor(async () => (await listWaiting(db.sql)).length === 2);
  });
  expect(await Promise.all(sent)).toEqual([undefined, 403]);
  const [row] = await db.sql`
    select role from organization_members where user_id = ${ann.user.id} and org_id = ${bob.org.id}`;
  expect(row).toEqual({ role: "viewer" });
});
