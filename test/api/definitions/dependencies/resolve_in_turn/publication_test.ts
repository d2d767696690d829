/** Publications and validations whose references take too long to resolve. */
import { expect, test } from "bun:test";
import {
  agentNeeding,
  ask,
  createAgent,
  definitionOf,
  write,
} from "../../../../helpers/definitions/definitions.ts";
import { makeHub, makeLines } from "../../../../helpers/definitions/forest.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";

const UNRESOLVED = [
  503,
  "SERVICE_UNAVAILABLE",
  "Cannot resolve the references within 5 seconds. Nothing was stored. Send fewer documents at once, or documents with fewer references.",
];

async function failureOf(response: Response): Promise<unknown[]> {
  const { error } = (await response.json()) as { error?: { code: string; message: string } };
  return [response.status, error?.code, error?.message];
}

test("a version whose cycle search takes too long stays a draft", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await makeHub(api.db, person, "hub");
  const yaml = agentNeeding("top", ["hub"]);
  await createAgent(api, person, { name: "top", yaml });
  const refused = [
    503,
    "SERVICE_UNAVAILABLE",
    "Cannot search the dependencies for cycles within 2 seconds. Nothing was stored. Publish fewer documents at once, or reference fewer definitions.",
  ];
  const published = await write(api, "/agent/top@1.0.0/publish", person);
  expect(published.headers.get("retry-after")).toBe("2");
  expect(await failureOf(published)).toEqual(refused);
  expect((await definitionOf(await ask(api, "/agent/top@1.0.0", person))).status).toBe("draft");
  const validated = await write(api, "/validate", person, { body: { type: "agent", yaml, publish: true } });
  expect(await failureOf(validated)).toEqual(refused);
});

test("a document whose references take too long to resolve is refused", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await makeLines(api.db, person, { prefix: "wide", lines: 1, versions: 5_000, status: "archived" });
  const requires = Array.from({ length: 4_000 }, (_, n) => `wide-1@>=0.${n}.0 <9.9`);
  const yaml = agentNeeding("top", requires);
  const validated = await write(api, "/validate", person, { body: { type: "agent", yaml } });
  expect(await failureOf(validated)).toEqual(UNRESOLVED);
});

test("a publication is refused if the statement that binds its references takes too long", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = agentNeeding("top", ["base"]);
  await createAgent(api, person, { name: "top", yaml });
  await api.db.owner.unsafe(`
    create function bind_slowly() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(8);
      return null;
    end $$;
    create trigger definition_references_bind_slowly after update of target_org_id on definition_references
    for each statement execute function bind_slowly()`);
  expect(await failureOf(await write(api, "/agent/top@1.0.0/publish", person))).toEqual(UNRESOLVED);
  expect((await definitionOf(await ask(api, "/agent/top@1.0.0", person))).status).toBe("draft");
  const batch = { publish: true, definitions: [{ yaml: agentNeeding("other", ["base"]) }] };
  expect(await failureOf(await write(api, "/batch", person, { body: batch }))).toEqual(UNRESOLVED);
});
