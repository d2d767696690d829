import { expect, test } from "bun:test";
import { deleteExpiredExports } from "../../../jobs/delete_expired_exports.ts";
import { deleteOldRecords, deleteOrganizations } from "../../../jobs/delete_old_records.ts";
import { BuildSuperseded } from "../../../jobs/org_export_file.ts";
import { lockDueOrg, markOrgDeleted } from "../../../sql/accounts/organization_deletion.ts";
import { ensureInstallation, markOriginal } from "../../../sql/database_copy.ts";
import { queueMail, storedMails } from "../../helpers/accounts/account_mail.ts";
import { agentYaml, makeDefinition } from "../../helpers/definitions/definitions.ts";
import { jobOf, postJob } from "../../helpers/exports/export_job.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { restoreElsewhere } from "../../helpers/postgres/database.ts";
import type { Person } from "../../helpers/postgres/factory.ts";
import { commitDuring, listWaiting } from "../../helpers/postgres/waiting_sessions.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const NEVER = new AbortController().signal;

async function endNow(api: TestApp, { org }: Pick<Person, "org">): Promise<void> {
  await api.db.sql`update organizations set deletes_at = now() - interval '1 second' where id = ${org.id}`;
}

async function statusOf(api: TestApp, path: string, key?: string): Promise<number> {
  const response = await api.request(`/api/v1${path}`, { ...(key === undefined ? {} : { key }) });
  await response.body?.cancel();
  return response.status;
}

test("deletes only the deleted organization's members, keys, webhooks, projects and drafts", async () => {
  await using api = await openTestApp();
  const [owner, other] = [await api.make.person({ role: "owner" }), await api.make.person({ role: "owner" })];
  for (const { org, user } of [owner, other]) {
    await api.make.project({ orgId: org.id, ownerId: user.id });
    await api.make.key({ userId: user.id, orgId: org.id });
    await api.db.sql`
      insert into webhooks (org_id, url, types, secret, position)
      values (${org.id}, 'https://example.com/hook', '{export.ready}', 'whsec_AAAA', 0)`;
    await makeDefinition(api.db.sql, { org, user }, { name: "draft", status: "draft" });
  }
  await endNow(api, owner);
  await deleteOldRecords(api.deps, NEVER);
  expect(api.logLines).toContainEqual(
    expect.objectContaining({ event: "retention.swept", organizations: 1 }),
  );
  const rowsOf = async ({ org }: Person) => {
    const [row] = await api.db.sql`
      select
        (select count(*)::int from organization_members where org_id = ${org.id}) as members,
        (select count(*)::int from api_keys where org_id = ${org.id} and revoked_at is null) as keys,
        (select count(*)::int from webhooks where org_id = ${org.id}) as webhooks,
        (select count(*)::int from projects where org_id = ${org.id} and deleted_at is null) as projects,
        (select count(*)::int from definitions where org_id = ${org.id}) as drafts`;
    return { ...row };
  };
  expect(await rowsOf(owner)).toEqual({ members: 0, keys: 0, webhooks: 0, projects: 0, drafts: 0 });
  expect(await rowsOf(other)).toEqual({ members: 1, keys: 1, webhooks: 1, projects: 1, drafts: 1 });
  for (const path of ["", "/members", "/projects", "/profile"]) {
    expect(await statusOf(api, `/orgs/${owner.org.slug}${path}`, owner.key)).toBe(404);
    expect(await statusOf(api, `/orgs/${other.org.slug}${path}`, other.key)).toBe(200);
  }
  const entries = await api.db.sql`
    select actor_type, action, details from audit_log where org_id = ${owner.org.id} order by id`;
  expect([...entries]).toEqual([
    {
      ...{ actorType: "service", action: "org.delete" },
      details: { slug: owner.org.slug, members: 1, projects: 1 },
    },
  ]);
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(0);
});

test("keeps public definitions as deprecated versions, and hides private definitions from everyone", async () => {
  await using api = await openTestApp();
  const [owner, other] = [await api.make.person({ role: "owner" }), await api.make.person()];
  for (const visibility of ["public", "private"] as const) {
    await makeDefinition(api.db.sql, owner, { name: `a-${visibility}`, status: "published", visibility });
  }
  await endNow(api, owner);
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(1);
  const path = `/api/v1/definitions/agent/@${owner.org.slug}/a-public@1.0.0`;
  const response = await api.request(path, { key: other.key });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { data: { status: "deprecated", deprecationReason: "The organization was deleted." } },
  ]);
  const feed = await api.request("/api/v1/events?type=definition.deprecated", { key: other.key });
  const { data } = (await feed.json()) as { data: { events: { type: string; data: object }[] } };
  expect(data.events.map(({ type, data: about }) => [type, about])).toEqual([
    ["definition.deprecated", expect.objectContaining({ name: "a-public", version: "1.0.0" })],
  ]);
  for (const { key } of [owner, other]) {
    const hidden = `/definitions/agent/@${owner.org.slug}/a-private@1.0.0`;
    expect(await statusOf(api, hidden, key)).toBe(404);
  }
});

test("subtracts a deleted organization's forks from the source definition's fork count", async () => {
  await using api = await openTestApp();
  const [owner, other] = [await api.make.person({ role: "owner" }), await api.make.person({ role: "owner" })];
  await makeDefinition(api.db.sql, other, { name: "source", status: "published", visibility: "public" });
  const source = `/api/v1/definitions/agent/@${other.org.slug}/source`;
  for (const [person, name] of [
    [owner, "one"],
    [owner, "two"],
    [other, "three"],
  ] as const) {
    const headers = { "x-org-slug": person.org.slug };
    const made = await api.request(`${source}@1.0.0/fork`, {
      method: "POST",
      key: person.key,
      headers,
      body: { name },
    });
    expect(made.status).toBe(201);
  }
  const forkCount = async () =>
    ((await (await api.request(source)).json()) as { data: { forkCount: number } }).data.forkCount;
  expect(await forkCount()).toBe(3);
  await endNow(api, owner);
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(1);
  expect(await forkCount()).toBe(1);
  expect(await api.db.sql`select from definition_lines where org_id = ${owner.org.id}`).toHaveLength(0);
});

test("deletes a draft that is created during the deletion of its organization", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  await makeDefinition(api.db.sql, owner, { name: "line", status: "published" });
  await endNow(api, owner);
  const deleted = await commitDuring(
    api.db,
    async (tx) => {
      await tx`select from organization_members where org_id = ${owner.org.id} for share`;
      await tx`
        insert into definitions (
          line_id, org_id, type, name, version, status, visibility, yaml, hash, display_name, author_id, change_type
        )
        select line_id, org_id, type, name, '1.1.0', 'draft', visibility, yaml, hash, display_name, author_id, change_type
        from definitions`;
    },
    () => deleteOrganizations(api.deps, NEVER),
  );
  expect(deleted).toBe(1);
  const left = await api.db.sql`select version, status from definitions where org_id = ${owner.org.id}`;
  expect([...left]).toEqual([{ version: "1.0.0", status: "deprecated" }]);
});

test("fails a queued export, and deletes the file of a ready export in the next sweep", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  await using runner = await openTestRunner(api);
  const ready = await jobOf(await postJob(api, owner));
  await runner.build(ready.id);
  const queued = await jobOf(await postJob(api, owner));
  await endNow(api, owner);
  expect(await deleteOrganizations(runner.deps, NEVER)).toBe(1);
  await deleteExpiredExports(runner.deps, NEVER);
  const jobs = await api.db.sql`select id, status, error_code from export_jobs order by number`;
  expect([...jobs]).toEqual([
    { id: ready.id, status: "expired", errorCode: null },
    { id: queued.id, status: "failed", errorCode: "ORGANIZATION_GONE" },
  ]);
  const entries = await api.db.sql`select state from pgboss.job where id = ${queued.id}`;
  expect([...entries]).toEqual([{ state: "cancelled" }]);
});

test("rolls back a deletion that fails at its last statement, and retries the deletion in the next sweep", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  await api.make.project({ orgId: owner.org.id, ownerId: owner.user.id });
  await endNow(api, owner);
  await api.db.owner`alter table audit_log add constraint no_entries_check check (false) not valid`;
  const failed = await deleteOrganizations(api.deps, NEVER).catch((error: Error) => error.message);
  expect(failed).toContain("no_entries_check");
  expect(await statusOf(api, `/orgs/${owner.org.slug}/members`, owner.key)).toBe(200);
  expect(await api.db.sql`select 1 from projects where deleted_at is null`).toHaveLength(1);
  await api.db.owner`alter table audit_log drop constraint no_entries_check`;
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(1);
});

test("deletes other old records even if an organization cannot be deleted", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  await endNow(api, owner);
  await api.make.session({ userId: owner.user.id, expiresAt: "2026-01-01T00:00:00Z" });
  await api.db.owner`alter table organizations add constraint kept_check check (deleted_at is null)`;
  const failed = await deleteOldRecords(api.deps, NEVER).catch((error: Error) => error.message);
  expect(failed).toContain("kept_check");
  expect(await api.db.sql`select 1 from sessions`).toHaveLength(0);
});

test("deletes an organization before it deletes old rows", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  await endNow(api, owner);
  const { sweep } = await api.db.owner.begin(async (tx) => {
    await tx`lock table tracker_changes in access exclusive mode`;
    const sweep = deleteOldRecords(api.deps, NEVER);
    await waitFor(async () => (await listWaiting(api.db.admin, "tracker_changes")).length === 1);
    const [org] = await api.db.sql`select deleted_at from organizations where id = ${owner.org.id}`;
    expect(org).toEqual({ deletedAt: expect.any(String) });
    return { sweep };
  });
  await sweep;
});

test("lets owners reset their password while their organization is being deleted", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  await api.make.project({ orgId: owner.org.id, ownerId: owner.user.id });
  await endNow(api, owner);
  const { sweep } = await api.db.sql.begin(async (tx) => {
    await tx`select from projects where org_id = ${owner.org.id} for update`;
    const sweep = deleteOrganizations(api.deps, NEVER);
    await waitFor(async () => (await listWaiting(api.db.admin)).length === 1);
    const body = { email: owner.user.email };
    const { status } = await api.request("/api/v1/auth/password/reset", { method: "POST", body });
    expect(status).toBe(202);
    return { sweep };
  });
  expect(await sweep).toBe(1);
  const mails = await api.db.sql`select kind from account_mails order by kind`;
  expect([...mails]).toEqual([{ kind: "deletion_notice" }, { kind: "password_reset" }]);
});

test("deletes no organization and mails no deletion notice from a database copy until the copy replaces the original", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  await ensureInstallation(api.db.sql);
  // The copy inherits this queued notice.
  const { id: userId, email } = owner.user;
  const [details, orgId] = [{ about: "deleted", name: "Acme", slug: "acme", by: null }, owner.org.id];
  await queueMail(api, { kind: "deletion_notice", email, userId, orgId, details });
  await restoreElsewhere(api.db);
  await endNow(api, owner);
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(0);
  expect(await statusOf(api, `/orgs/${owner.org.slug}`, owner.key)).toBe(200);
  await using runner = await openTestRunner(api);
  const subjects = async () =>
    (await storedMails(api)).map(({ headers }) => String(headers["subject"])).sort();
  await expect(runner.accountMails()).rejects.toThrow("Cannot send this mail from a copy");
  await api.db.sql`update pgboss.job set state = 'cancelled' where name = 'send_account_mail'`;
  // The copy still sends mails that users request.
  await queueMail(api, { kind: "password_reset", email });
  await runner.accountMails();
  expect(await subjects()).toEqual(["Choose a new password"]);
  await markOriginal(api.db.sql);
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(1);
  await api.db.sql`update pgboss.job set state = 'retry', completed_on = null where state = 'cancelled'`;
  await runner.accountMails();
  expect(await subjects()).toEqual(
    ["Acme has been deleted", "Choose a new password", `${owner.org.name} has been deleted`].sort(),
  );
});

test("deletes each organization once in two concurrent sweeps, and leaves a locked organization to the next sweep", async () => {
  await using api = await openTestApp();
  const owners: Person[] = [];
  for (let n = 0; n < 4; n += 1) owners.push(await api.make.person({ role: "owner" }));
  for (const owner of owners) await endNow(api, owner);
  const [first] = owners;
  await api.db.sql.begin(async (tx) => {
    await tx`select from organizations where id = ${first?.org.id ?? null} for no key update`;
    const sweep = () => deleteOrganizations(api.deps, NEVER);
    const [one, two] = await Promise.all([sweep(), sweep()]);
    expect(one + two).toBe(3);
  });
  expect(await deleteOrganizations(api.deps, NEVER)).toBe(1);
  expect(await api.db.sql`select 1 from audit_log where action = 'org.delete'`).toHaveLength(4);
});

test("does not deadlock with members who write during the deletion", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ role: "owner" });
  const { user, org } = owner;
  const { token } = await api.make.session({ userId: user.id });
  const { id } = await api.make.project({ orgId: org.id, ownerId: user.id });
  await api.db.sql`
    insert into webhooks (org_id, url, types, secret, position)
    values (${org.id}, 'https://example.com/hook', '{export.ready}', 'whsec_AAAA', 0)`;
  await endNow(api, owner);
  const writes: readonly [method: string, path: string, body: object][] = [
    ["PATCH", `/orgs/${org.slug}/projects/${id}`, { name: "Renamed" }],
    ["POST", "/auth/keys", { organization: org.slug }],
    ["POST", `/definitions/agent/@${org.slug}/reviewer`, { yaml: agentYaml("reviewer") }],
  ];
  const { sweep, requests } = await api.db.sql.begin(async (tx) => {
    // While this lock is held, the sweep locks the organization and then waits for the webhook's row.
    await tx`select from webhooks where org_id = ${org.id} for update`;
    const sweep = deleteOrganizations(api.deps, NEVER);
    await waitFor(async () => (await listWaiting(api.db.admin)).length === 1);
    let over = 0;
    const requests = writes.map(async ([method, path, body]) => {
      const { status } = await api.request(`/api/v1${path}`, { method, key: token, body });
      over += 1;
      return status;
    });
    await waitFor(async () => (await listWaiting(api.db.admin)).length + over === 1 + writes.length);
    return { sweep, requests };
  });
  expect(await Promise.all([sweep, ...requests])).toEqual([1, 200, 403, 403]);
  const kept = await api.db.sql`
    select 1 from api_keys where org_id = ${org.id} and revoked_at is null
    union all select 1 from definition_lines where org_id = ${org.id}`;
  expect(kept).toHaveLength(0);
});

test("does not deadlock with a build that ends during the deletion", async () => {
  await using api = await openTestApp();
  await using runner = await openTestRunner(api);
  const [ready, dead] = [await api.make.person({ role: "owner" }), await api.make.person({ role: "owner" })];
  for (const owner of [ready, dead]) {
    const { id } = await jobOf(await postJob(api, owner));
    await endNow(api, owner);
    // The second job has used up its attempts, so its next build only marks it as failed.
    if (owner === dead)
      await api.db.sql`update export_jobs set status = 'running', attempt = 3 where id = ${id}`;
    const { build } = await api.db.sql.begin(async (tx) => {
      await lockDueOrg(tx);
      const build = runner.build(id).catch((error: unknown) => error);
      await waitFor(async () => (await listWaiting(api.db.admin)).length === 1);
      await markOrgDeleted(tx, owner.org.id);
      return { build };
    });
    expect(await build).toEqual(owner === dead ? undefined : expect.any(BuildSuperseded));
    const [job] = await api.db.sql`select error_code from export_jobs where id = ${id}`;
    expect(job).toMatchObject({ errorCode: "ORGANIZATION_GONE" });
  }
});

test("hides a deleted organization from a member who was added after the deletion", async () => {
  await using api = await openTestApp();
  const [owner, late] = [await api.make.person({ role: "owner" }), await api.make.person()];
  await endNow(api, owner);
  await deleteOrganizations(api.deps, NEVER);
  await api.make.member({ orgId: owner.org.id, userId: late.user.id });
  expect(await statusOf(api, `/orgs/${owner.org.slug}`, late.key)).toBe(404);
  const list = await (await api.request("/api/v1/orgs", { key: late.key })).text();
  expect(list).not.toContain(owner.org.slug);
});
