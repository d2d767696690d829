/** Updates and publications with `expectedUpdatedAt`, after another client has changed the draft. */
import { expect, test } from "bun:test";
import {
  agentYaml,
  ask,
  createAgent,
  definitionOf,
  errorOf,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const PATH = "/agent/reviewer@1.0.0";

test("an update of a draft that has changed since it was read is refused and writes nothing", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const { updatedAt } = await createAgent(api, person, { name: "reviewer" });
  // The hash does not cover comments, but a stale update must not overwrite them either.
  const first = `# first\n${agentYaml("reviewer")}`;
  await waitFor(() => new Date().toISOString() > updatedAt);
  const put = (body: object) => ask(api, PATH, person, { method: "PUT", body });
  const changed = await definitionOf(await put({ yaml: first, expectedUpdatedAt: updatedAt }));
  const second = await put({ yaml: agentYaml("reviewer"), expectedUpdatedAt: updatedAt });
  expect(await errorOf(second)).toEqual([
    409,
    "EDIT_CONFLICT",
    { updatedAt: changed.updatedAt, status: "draft" },
  ]);
  expect((await definitionOf(await ask(api, PATH, person))).yaml).toBe(first);
  const third = await put({ yaml: agentYaml("reviewer"), expectedUpdatedAt: changed.updatedAt });
  expect(third.status).toBe(200);
});

test("every update increases updatedAt, even if the stored time is in the future", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "reviewer" });
  const later = new Date(Date.now() + 3_600_000).toISOString();
  await api.db.sql`update definitions set updated_at = ${later}`;
  const put = (visibility: string) => ask(api, PATH, person, { method: "PUT", body: { visibility } });
  const { updatedAt } = await definitionOf(await put("public"));
  expect(updatedAt > later).toBe(true);
  const second = await put("private");
  expect((await definitionOf(second)).updatedAt > updatedAt).toBe(true);
});

test("of three concurrent updates with YAML bodies that expect the same draft, only one succeeds", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const { updatedAt } = await createAgent(api, person, { name: "reviewer" });
  await waitFor(() => new Date().toISOString() > updatedAt);
  const query = `?expectedUpdatedAt=${encodeURIComponent(updatedAt)}`;
  const responses = await Promise.all(
    ["a", "b", "c"].map((comment) =>
      ask(api, PATH + query, person, {
        method: "PUT",
        headers: { "content-type": "application/yaml" },
        body: `# ${comment}\n${agentYaml("reviewer")}`,
      }),
    ),
  );
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
});

test("a draft that has changed since it was read cannot be published", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const { updatedAt } = await createAgent(api, person, { name: "reviewer" });
  await waitFor(() => new Date().toISOString() > updatedAt);
  await ask(api, PATH, person, { method: "PUT", body: { visibility: "public" } });
  const stale = await write(api, `${PATH}/publish`, person, { body: { expectedUpdatedAt: updatedAt } });
  expect((await errorOf(stale)).slice(0, 2)).toEqual([409, "EDIT_CONFLICT"]);
  const draft = await definitionOf(await ask(api, PATH, person));
  expect(draft.status).toBe("draft");
  const body = { expectedUpdatedAt: draft.updatedAt };
  expect((await write(api, `${PATH}/publish`, person, { body })).status).toBe(200);
});
