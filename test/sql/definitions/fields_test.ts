import { expect, test } from "bun:test";
import { DEFINITION_FIELDS, SUMMARY_FIELDS } from "../../../sql/definitions/fields.ts";
import { findDefinitionById } from "../../../sql/definitions/versions.ts";
import { ask, createAgent, publishAgent, write } from "../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../helpers/http/app.ts";

test("returns a row and its JSON with the declared fields in the same order and with the same values", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const provenance = { authorshipType: "human" };
  const draft = await createAgent(api, person, { name: "draft", provenance, visibility: "unlisted" });
  const { id } = await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const deprecation = { reason: "Another one does it better", successor: "draft" };
  await write(api, "/agent/reviewer@1.0.0/deprecate", person, { body: deprecation });
  const viewer = { userId: person.user.id, boundOrgId: null };
  for (const found of [draft.id, id]) {
    const row = await findDefinitionById(api.db.sql, { id: found, viewer });
    if (!row) throw new Error("Cannot find the definition");
    const { shown, lineId, orgSlug, changeSummary, changeType, ...fields } = row;
    expect(shown).toEqual(fields);
    expect(Object.keys(shown)).toEqual(Object.keys(DEFINITION_FIELDS));
    expect([typeof lineId, changeSummary, changeType]).toEqual(["string", null, "major"]);
    expect(orgSlug).toBe(person.org.slug);
  }
  const response = await ask(api, "?limit=1", person);
  const listed = (await response.json()) as { data: { definitions: [object] } };
  expect(Object.keys(listed.data.definitions[0])).toEqual(Object.keys(SUMMARY_FIELDS));
});

/** Columns of `definitions` that the API does not return. */
const INSIDE = [
  ...["d.archived_at", "d.change_summary", "d.change_type", "d.json_hash", "d.line_id"],
  ...["d.version_major", "d.version_minor", "d.version_patch"],
];

test("declares every column of a version as a field or as internal", async () => {
  await using api = await openTestApp();
  const columns = await api.db.sql<{ name: string }[]>`
    select 'd.' || column_name as name
    from information_schema.columns
    where table_schema = 'public' and table_name = 'definitions'`;
  const declared: string[] = Object.values(DEFINITION_FIELDS).map(({ sql }) => sql);
  const inside = columns.map(({ name }) => name).filter((name) => !declared.includes(name));
  expect(inside.toSorted()).toEqual(INSIDE);
});
