import { expect, test } from "bun:test";
import { rowCheck } from "../../../../api/admin/import/import_row.ts";
import { column, nullableColumn } from "../../../../shared/exports/column.ts";

const ID = "0d4f6a3e-9c1b-4e57-8a20-5b7f1c3d9e86";
const check = rowCheck([
  nullableColumn.uuid("id", ""),
  nullableColumn.text("text", ""),
  nullableColumn.integer("small", ""),
  nullableColumn.bigInteger("big", ""),
  nullableColumn.number("number", ""),
  nullableColumn.boolean("flag", ""),
  nullableColumn.timestamp("at", ""),
]);
const checkJson = rowCheck([column.json("data", ""), nullableColumn.text("text", "")]);

test.each([
  "{}",
  '{"id":null,"text":null,"small":null,"big":null,"number":null,"flag":null,"at":null}',
  `{"id":"${ID}"}`,
  '{"text":""}',
  '{"text":"\\ud83d\\ude80 \\\\u0000"}',
  '{"small":-2147483648,"big":9007199254740993}',
  '{ "small" : 2147483647 , "big" : -9223372036854775808 }',
  '{"big":9223372036854775807,"text":"\\"small\\":5.0"}',
  '{"number":1e+30}',
  '{"number":-0.1}',
  '{"flag":false}',
  '{"at":"2024-02-29T23:59:59.999Z"}',
  '{"at":"0001-01-01T00:00:00.000Z"}',
  `{"id":"${ID.toUpperCase()}"}`,
  '{"at":"2026-01-01T00:00:00Z"}',
  '{"at":"2026-01-01T05:30:00.1+05:30"}',
])("a row that would be exported with the same values is accepted: %s", (line) => {
  expect(check(line)).toBeNull();
});

test.each([
  ['{"id":"{0d4f6a3e9c1b4e578a205b7f1c3d9e86}"}', "id must be a UUID, or null"],
  ['{"id":5}', "id must be"],
  ['{"text":true}', "text must be a string, or null"],
  ['{"text":["a"]}', "text must be"],
  ['{"small":2147483648}', "small must be a 32-bit integer, or null"],
  ['{"small":5.0}', "small must be"],
  ['{"small":5e0}', "small must be"],
  ['{"small":"5"}', "small must be"],
  ['{"small":1,"small":5.5}', "small must be"],
  ['{"big":9223372036854775808}', "big must be a 64-bit integer, or null"],
  ['{"big":1e3}', "big must be"],
  ['{"big":true}', "big must be"],
  ['{"number":"NaN"}', "number must be a number, or null"],
  ['{"number":1e400}', "number must be"],
  ['{"flag":"yes"}', "flag must be true or false, or null"],
  ['{"flag":1}', "flag must be"],
  ['{"at":"2026-02-29T00:00:00.000Z"}', "at must be an instant like"],
  ['{"at":"2026-13-01T00:00:00.000Z"}', "at must be"],
  ['{"at":"2026-01-01T24:00:00.000Z"}', "at must be"],
  ['{"at":"2026-01-01T23:59:60.000Z"}', "at must be"],
  ['{"at":"2026-01-01T00:00:00.000"}', "at must be"],
  ['{"at":"2026-01-01 00:00:00Z"}', "at must be"],
  ['{"at":"2026-01-01T00:00:00.0001Z"}', "at must be"],
  ['{"at":"now"}', "at must be"],
  ['{"at":"0000-01-01T00:00:00.000Z"}', "at must be"],
  ['{"at":1767225600000}', "at must be"],
  ['{"text":"\\ud83d"}', "text contains a character that PostgreSQL cannot store"],
  ['{"__proto__":{"a":1}}', 'unknown column "__proto__"'],
  ["[]", "it is not a JSON object"],
  ["null", "it is not a JSON object"],
  ['{"text":', "it is not a JSON object"],
])("a row that would be exported with other values is refused: %s", (line, reason) => {
  expect(check(line)).toStartWith(reason);
});

test("JSON columns accept anything that PostgreSQL can store", () => {
  for (const data of ["5", '"now"', "null", "[{}]", '{"a":{"b":[1.50]}}', '"\\\\ud800"']) {
    expect(checkJson(`{"data":${data}}`)).toBeNull();
  }
  for (const data of ['"\\u0000"', '{"a":[{"\\ud800":1}]}', '["\\uDEAD"]']) {
    expect(checkJson(`{"data":${data}}`)).toStartWith(
      "data contains a character that PostgreSQL cannot store",
    );
  }
});
