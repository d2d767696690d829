/** Every operation refuses bodies with unknown fields and suggests the intended field. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OpenApiDocument } from "../../../api/openapi/types.ts";
import { agentYaml } from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { type DescribedOperation, listOperations, readDocument } from "../../helpers/http/openapi.ts";
import type { Person } from "../../helpers/postgres/factory.ts";

type Schema = Readonly<Record<string, unknown>>;

let api: TestApp;
let document: OpenApiDocument;
let person: Person;
let writes: DescribedOperation[];

beforeAll(async () => {
  api = await openTestApp({
    config: { rateLimitUserPerMinute: 100_000, rateLimitAnonymousPerMinute: 100_000 },
  });
  document = await readDocument(api);
  person = await api.make.person({ role: "owner" });
  writes = listOperations(document).filter(
    ({ method, path }) => method !== "GET" && path.startsWith("/api/v1/"),
  );
});
afterAll(() => api[Symbol.asyncDispose]());

function resolved(schema: Schema): Schema {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return schema;
  const name = reference.split("/").at(-1) ?? "";
  return (document.components.schemas as Record<string, Schema>)[name] ?? {};
}

function bodySchemaOf({ operation }: DescribedOperation): Schema | null {
  const schema = operation.requestBody?.content["application/json"]?.schema as Schema | undefined;
  return schema ? resolved(schema) : null;
}

/** Returns every object schema within a schema, with its path. */
function objectsIn(given: Schema, place = "body"): [string, Schema][] {
  const schema = resolved(given);
  const members = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>);
  const parts = [schema["anyOf"] ?? [], schema["items"] ?? []].flat() as Schema[];
  return [
    ...(schema["type"] === "object" ? [[place, schema] satisfies [string, Schema]] : []),
    ...members.flatMap(([name, member]) => objectsIn(member, `${place}.${name}`)),
    ...parts.flatMap((part) => objectsIn(part, place)),
  ];
}

async function send({ method, path }: DescribedOperation, body: object) {
  const key = (await api.make.session({ userId: person.user.id })).token;
  const address = path.replaceAll("{type}", "agent").replaceAll(/\{\w+\}/g, "x");
  const headers = { "x-org-slug": person.org.slug };
  const response = await api.request(address, { method, key, body, headers });
  const { error } = (await response.json()) as {
    error: { code: string; details?: { errors?: { path: string; message: string }[] } };
  };
  return { status: response.status, code: error.code, errors: error.details?.errors ?? [] };
}

async function countWrites(): Promise<unknown> {
  return api.db.sql`select count(*)::int from audit_log`;
}

describe("every operation with a body", () => {
  test("describes a body that allows no additional fields at any level", () => {
    const bodies = writes.flatMap((operation) => {
      const schema = bodySchemaOf(operation);
      return schema ? objectsIn(schema, operation.name) : [];
    });
    expect(bodies.length).toBeGreaterThan(20);
    for (const [place, schema] of bodies) {
      expect([place, schema["additionalProperties"]]).toEqual([place, false]);
    }
  });

  test("refuses a misspelled field, suggests the intended field and writes nothing", async () => {
    const before = await countWrites();
    const fields = writes.flatMap((operation) => {
      const members = (bodySchemaOf(operation)?.["properties"] ?? {}) as Record<string, Schema>;
      return Object.entries(members)
        .filter(([, member]) => !member["deprecated"])
        .map(([name]) => ({ operation, name }));
    });
    expect(fields.length).toBeGreaterThan(60);
    for (const { operation, name } of fields) {
      const misspelled = `${name}${name.at(-1)}`;
      const { status, code, errors } = await send(operation, { [misspelled]: true });
      expect([operation.name, status, code]).toEqual([operation.name, 400, "VALIDATION_ERROR"]);
      expect(errors).toContainEqual({
        path: misspelled,
        message: `is not a known field. Did you mean "${name}"?`,
      });
    }
    expect(await countWrites()).toEqual(before);
  });

  test("lists the accepted fields if none resembles the unknown field", async () => {
    const batch = writes.find(({ name }) => name === "POST /api/v1/definitions/batch");
    if (!batch) throw new Error("Cannot find the batch in the document");
    expect((await send(batch, { yaml: agentYaml("x"), zzz: 1 })).errors).toEqual([
      {
        path: "zzz",
        message: "is not a known field. The fields are definitions, yaml, publish, validate, visibility",
      },
    ]);
  });
});

test("every operation without a body refuses a body with a field", async () => {
  const without = writes.filter((operation) => bodySchemaOf(operation) === null);
  expect(without.length).toBeGreaterThan(5);
  for (const operation of without.filter(({ operation }) => !operation.requestBody)) {
    const { status, errors } = await send(operation, { force: true });
    expect([operation.name, status]).toEqual([operation.name, 400]);
    expect(errors).toEqual([
      { path: "force", message: "is not a known field. This endpoint takes no fields" },
    ]);
  }
});

describe("a misspelled field in a nested object or a list item", () => {
  test.each([
    [
      "/definitions/agent/x",
      { yaml: "", provenance: { authorshipTyp: "human" } },
      "provenance.authorshipTyp",
      "authorshipType",
    ],
    [
      "/definitions/agent/x",
      {
        yaml: "",
        provenance: { authorshipType: "human", contributors: [{ role: "author", type: "human", nam: "A" }] },
      },
      "provenance.contributors.0.nam",
      "name",
    ],
    [
      "/definitions/batch",
      { definitions: [{ yaml: "" }, { yaml: "", visiblity: "public" }] },
      "definitions.1.visiblity",
      "visibility",
    ],
  ])("of POST %s is found: %j", async (path, body, place, meant) => {
    const [operation] = writes;
    if (!operation) throw new Error("Cannot find an operation in the document");
    const { status, errors } = await send({ ...operation, method: "POST", path: `/api/v1${path}` }, body);
    expect(status).toBe(400);
    expect(errors).toContainEqual({ path: place, message: `is not a known field. Did you mean "${meant}"?` });
  });
});
