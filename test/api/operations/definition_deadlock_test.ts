/** Writes that PostgreSQL ends because of a deadlock, as when their organization is deleted at the same time. */
import { expect, test } from "bun:test";
import { agentYaml, ask, write } from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";

/** Makes the first transaction of each write fail, as a deadlock does. A sequence is not rolled back. */
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

test("a write that ends in a deadlock is repeated, and done once", async () => {
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
