import { expect, test } from "bun:test";
import { migrate } from "../../../sql/migrate.ts";
import { readMigrations } from "../../../sql/migration_files.ts";
import { listModels, upsertModels } from "../../../sql/models/models.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const SOURCE_FACTS = "20261125103000_models__source_facts__add";

test("the migration drops generated descriptions and keeps known capabilities", async () => {
  await using db = await openTestDatabase();
  await db.owner.unsafe("drop schema public cascade; create schema public");
  const migrations = await readMigrations();
  const index = migrations.findIndex(({ name }) => name === SOURCE_FACTS);
  await migrate(db.owner, { migrations: migrations.slice(0, index) });
  await db.owner.unsafe(`
    insert into model_providers (id, name) values ('openai', 'OpenAI');
    insert into models (provider, model_id, name, description, has_vision, has_tools, has_streaming, has_reasoning,
      has_structured_output, has_attachment, input_modalities, output_modalities, tier, tier_source, status,
      is_open_weights)
    values ('openai', 'gpt-5', 'GPT-5', 'GPT-5 by OpenAI turns text into text.', false, true, true, false, false, true,
      '{text}', '{text}', 'standard', 'price', 'available', false);
    insert into catalog_syncs (started_at, finished_at, source, etag, outcome, inserted, updated, gone, unchanged, skipped)
    values (now(), now(), 'https://models.dev/api.json', '"abc"', 'changed', 1, 0, 0, 0, 0)`);
  await migrate(db.owner, { migrations: migrations.slice(0, index + 1) });
  const models = await db.owner`
    select description, capabilities_stated, input_tokens, has_structured_output from models`;
  expect([...models]).toEqual([
    {
      description: null,
      capabilitiesStated: ["tools", "attachment"],
      inputTokens: null,
      hasStructuredOutput: false,
    },
  ]);
  expect([...(await db.owner`select etag from catalog_syncs`)]).toEqual([{ etag: null }]);
});

test("allows rows that reference a model to be added while a sync changes the model", async () => {
  await using db = await openTestDatabase();
  await syncFrom(db.sql, documentSource(makeDocument({ acme: { a: {} } })));
  const models = await listModels(db.sql);
  await db.sql.begin(async (tx) => {
    await upsertModels(
      tx,
      models.map((model) => ({ ...model, name: "A" })),
    );
    // Takes the same row lock as a foreign key check.
    const free = await db.sql`select model_id from models for key share skip locked`;
    expect([...free]).toEqual([{ modelId: "a" }]);
  });
  expect(await listModels(db.sql)).toMatchObject([{ modelId: "a", name: "A" }]);
});
