/** Writes that PostgreSQL aborts because of a deadlock, for example while their organization is being deleted. */
import { expect, test } from "bun:test";
import { openOrgScene } from "../../helpers/accounts/organization.ts";
import { agentYaml, ask, write } from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { callWebhooks, WEBHOOK_BODY } from "../../helpers/webhooks/call_webhooks.ts";

/** Fails the first transaction of each write with a deadlock error. The rollback does not reset the sequence. */
async function failFirstTries({ db }: TestApp): Promise<void> {
  await db.owner.unsafe(`
    create sequence tries;
    create function fail_first_try() returns trigger language plpgsql security definer as $$
    begin
      if nextval('public.tries') % 2 = 1 then
        raise exception 'deadlock detected' using errcode = 'deadlock_detected';
      end if;
      return new;
    end $$;
    create trigger fail_first_try before insert on audit_log for each row execute function fail_first_try()`);
}

test("a write to a definition that is aborted by a deadlock is retried and applied once", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await failFirstTries(api);
  const [path, draft] = ["/agent/reviewer@1.0.0", "/agent/reviewer@1.1.0"];
  const body = (version: string) => ({ body: { yaml: agentYaml("reviewer", version) } });
  const responses = [
    await write(api, "/agent/reviewer", person, body("1.0.0")),
    await ask(api, path, person, { method: "PUT", body: { displayName: "Slow" } }),
    await write(api, `${path}/publish`, person),
    await write(api, `${path}/deprecate`, person, { body: { reason: "Old" } }),
    await write(api, `${path}/archive`, person),
    await write(api, "/agent/reviewer", person, body("1.1.0")),
    await ask(api, draft, person, { method: "DELETE" }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 201, 200]);
  const entries = await api.db.sql<{ action: string }[]>`
    select action from audit_log where action like 'definition.%' order by id`;
  const actions = ["create", "update", "publish", "deprecate", "archive", "create", "delete"];
  expect(entries.map(({ action }) => action)).toEqual(actions.map((verb) => `definition.${verb}`));
});

test("a write to an organization or an account that is aborted by a deadlock is retried and applied once", async () => {
  await using scene = await openOrgScene();
  const { api, owner } = scene;
  await failFirstTries(api);
  const path = `/api/v1/orgs/${owner.org.slug}`;
  const key = owner.token;
  const responses = [
    await callWebhooks(api, owner, "POST", "", WEBHOOK_BODY),
    await api.request(`${path}/projects`, { key, method: "POST", body: { name: "Shop" } }),
    await api.request(path, { key, method: "PATCH", body: { description: "We sell." } }),
    await api.request("/api/v1/users/me", { key, method: "PATCH", body: { name: "Ann" } }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 200, 200]);
  const entries = await api.db.sql<{ action: string }[]>`
    select action
    from audit_log
    where action in ('webhook.create', 'project.create', 'org.update', 'user.update')
    order by id`;
  expect(entries.map(({ action }) => action)).toEqual([
    ...["webhook.create", "project.create", "org.update", "user.update"],
  ]);
});
