/** The OpenAPI document as a whole: valid, complete, and with examples that match its schemas. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OPENAPI_TAGS } from "../../../api/openapi/document.ts";
import type { OpenApiDocument, OpenApiMedia } from "../../../api/openapi/types.ts";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../../shared/exports/datasets.ts";
import { EVENT_TYPES } from "../../../shared/vocabulary.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openContract } from "../../helpers/http/contract.ts";
import { listOperations, readDocument } from "../../helpers/http/openapi.ts";

const BIN = join(import.meta.dir, "../../../node_modules/.bin");

/** Adds rules to the linter's strictest set, and disables a rule that is wrong for this document. */
const LINT_RULES = `extends: [recommended-strict]
rules:
  # "/{type}/{name}/versions" and "/{type}/@{org}/{name}": no name begins with an at sign.
  no-ambiguous-paths: off
  operation-description: error
  operation-tag-defined: error
  spec-strict-refs: error
  tag-description: error
  rule/path-parameters-are-required:
    subject: { type: Parameter, property: required }
    where: [{ subject: { type: Parameter, property: in }, assertions: { const: path } }]
    assertions: { const: true, defined: true }
`;

/** The paths that the document describes. Pages and their files are not part of the API. */
const DESCRIBED = /^\/(api\/v1|health|metrics|\.well-known|security-policy|schemas)(\/|$)/;

interface Mapping {
  mapping: Record<string, string>;
}

/** Lints the document. Returns the linter's exit code and output. */
async function lint(document: OpenApiDocument): Promise<[number, string]> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-openapi-"));
  try {
    await Bun.write(join(directory, "openapi.json"), JSON.stringify(document));
    await Bun.write(join(directory, "redocly.yaml"), LINT_RULES);
    const child = Bun.spawn(
      [process.execPath, join(BIN, "redocly"), "lint", "openapi.json", "--format=stylish"],
      {
        cwd: directory,
        env: { PATH: process.env["PATH"] ?? "", REDOCLY_TELEMETRY: "off" },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return [await child.exited, output.join("")];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

let api: TestApp;
let document: OpenApiDocument;
beforeAll(async () => {
  api = await openTestApp();
  document = await readDocument(api);
});
afterAll(() => api[Symbol.asyncDispose]());

test("the linter reports no errors or warnings", async () => {
  const [code, output] = await lint(document);
  expect([code, output]).toEqual([0, expect.not.stringMatching(/\b(error|warning)\b/)]);
});

describe("the document", () => {
  test("describes every route except pages", async () => {
    const shape = (path: string) => path.replaceAll(/:\w+|\{\w+\}|\*/g, "{}").replace(/(?<=.)\/$/, "");
    const served = api.app.routes
      .filter(({ pattern }) => DESCRIBED.test(pattern))
      .map(({ method, pattern }) => `${method} ${shape(pattern)}`);
    const described = listOperations(document).map(({ method, path }) => `${method} ${shape(path)}`);
    // The documented forms of GET /definitions/{type}/{name}.
    const definition = ["", ".md", ".yaml"].flatMap((ending) =>
      ["", "@{}/"].map((organization) => `GET /api/v1/definitions/{}/${organization}{}${ending}`),
    );
    const dataset = "GET /api/v1/export/projects/{}/{}";
    const files = EXPORT_DATASET_NAMES.flatMap((name) => [name, `${name}.csv`, `${name}.parquet`]);
    const datasets = [...files, "deleted", "deleted.csv"].map((file) => dataset.replace(/{}$/, file));
    const own = new Set([dataset, definition[0]]);
    const expected = [...served.filter((name) => !own.has(name)), ...datasets, ...definition];
    expect(described.toSorted()).toEqual(expected.toSorted());
  });

  test("groups operations in the order of the tags", async () => {
    const names = OPENAPI_TAGS.map(({ name }) => name);
    expect(names.slice(0, 6)).toEqual([
      "Export",
      "Organizations",
      "Users",
      "Versions",
      "Definitions",
      "Model catalog",
    ]);
    const used = new Set(listOperations(document).flatMap(({ operation }) => operation.tags ?? []));
    expect(document.tags).toEqual(OPENAPI_TAGS.filter(({ name }) => used.has(name)));
  });

  test("has a unique id, a summary and a description for every operation", async () => {
    const operations = listOperations(document);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { name, operation } of operations) {
      expect([name, operation.tags?.length]).toEqual([name, 1]);
      for (const text of [operation.operationId, operation.summary, operation.description]) {
        expect([name, text]).toEqual([name, expect.stringMatching(/./)]);
      }
    }
  });

  test("describes every parameter and has an example for each required parameter", async () => {
    for (const { name, operation } of listOperations(document)) {
      for (const { name: parameter, description, required, example, schema } of operation.parameters ?? []) {
        const found = [name, parameter, Boolean(description), Boolean(schema), !required || Boolean(example)];
        expect(found).toEqual([name, parameter, true, true, true]);
      }
    }
  });

  test("has an example of every request and response body that matches its schema", async () => {
    const contract = await openContract(api.app);
    for (const { name, key, path, operation } of listOperations(document)) {
      const bodies = Object.entries(operation.requestBody?.content ?? {}).map(
        ([type, media]) => [["requestBody", "content", type], media] as const,
      );
      const answers = Object.entries(operation.responses ?? {}).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(
          ([type, media]) => [["responses", status, "content", type], media] as const,
        ),
      );
      for (const [place, media] of [...bodies, ...answers]) {
        const examples = examplesOf(media);
        if (place.at(-1) !== "application/json") continue;
        expect([name, place, examples.length > 0]).toEqual([name, place, true]);
        for (const example of examples) {
          const problem = contract.validate(["paths", path, key, ...place, "schema"], example);
          expect([name, place, problem]).toEqual([name, place, null]);
        }
      }
    }
  });

  test("has patterns that are valid regular expressions", async () => {
    const schemas = [
      ...schemasIn(document.paths, ["paths"]),
      ...schemasIn(document.components, ["components"]),
    ];
    for (const [place, { pattern = "" }] of schemas) {
      expect([place, new RegExp(String(pattern), "u")]).toEqual([place, expect.any(RegExp)]);
    }
  });

  test("has no internal fields", async () => {
    expect(JSON.stringify(document)).not.toMatch(/"x-[A-Za-z-]+":/);
  });
});

describe("for generated clients, the document", () => {
  test("has no schema that generators misinterpret", () => {
    const schemas = [
      ...schemasIn(document.paths, ["paths"]),
      ...schemasIn(document.components, ["components"]),
    ];
    for (const [place, schema] of schemas) {
      const types = [schema["type"]].flat();
      const isOpen = types.includes("object") && !("properties" in schema);
      const found = [
        Array.isArray(schema["enum"]) && schema["enum"].includes(null) ? "null in an enum" : "",
        types.includes("array") && !("items" in schema) ? "an array without items" : "",
        isOpen && !("additionalProperties" in schema) ? "an object of nothing" : "",
      ];
      expect([place, found.join("")]).toEqual([place, ""]);
    }
  });

  test("distinguishes events by type and describes webhook deliveries", () => {
    const { schemas } = document.components;
    for (const [title, types] of [
      ["Event", EVENT_TYPES],
      ["DeliveredEvent", [...EVENT_TYPES, "webhook.test"]],
    ] as const) {
      const { oneOf, discriminator } = schemas[title] as { oneOf: object[]; discriminator: Mapping };
      const found = Object.entries(discriminator.mapping).map(([type, $ref]) => {
        const { properties } = schemas[$ref.split("/").at(-1) ?? ""] as { properties: { type: object } };
        expect([$ref, properties.type]).toEqual([$ref, { type: "string", enum: [type] }]);
        return { type, $ref };
      });
      expect(found.map(({ type }) => type)).toEqual([...types]);
      expect(oneOf).toEqual(found.map(({ $ref }) => ({ $ref })));
    }
    const { content } = document.webhooks["event"]?.post?.requestBody ?? {};
    expect(content?.["application/json"]?.schema).toEqual({ $ref: "#/components/schemas/DeliveredEvent" });
  });

  test("gives each response at most one media type, so that generators give the response one type", () => {
    for (const { name, operation } of listOperations(document)) {
      for (const [status, { content = {} }] of Object.entries(operation.responses ?? {})) {
        const types = Object.keys(content).length;
        expect([name, status, types <= 1]).toEqual([name, status, true]);
      }
    }
  });

  test("distinguishes errors by code and lists the error codes of each operation", () => {
    const operations = listOperations(document);
    const codesOf = (id: string, status: string) => {
      const found = operations.find(({ operation }) => operation.operationId === id);
      const { schema, examples = {} } =
        found?.operation.responses?.[status]?.content?.["application/json"] ?? {};
      const { error } = (schema as { properties: { error: { $ref?: string; discriminator?: Mapping } } })
        .properties;
      const mapping = error.discriminator?.mapping ?? { [String(error.$ref)]: "" };
      expect(Object.keys(mapping)).toHaveLength(Object.keys(examples).length);
      return Object.keys(examples);
    };
    expect(codesOf("getDefinition", "404")).toEqual(["NOT_FOUND"]);
    expect(codesOf("exportIssues", "413")).toEqual(["EXPORT_TOO_LARGE"]);
    expect(codesOf("downloadExportJob", "409")).toEqual(["EXPORT_NOT_READY", "EXPORT_JOB_FAILED"]);
    expect(document.components.schemas["ExportTooLargeError"]).toMatchObject({
      properties: {
        code: { enum: ["EXPORT_TOO_LARGE"] },
        details: { required: ["rows", "limit", "asyncEndpoint"] },
      },
    });
  });

  test("is smaller than 495,000 characters, because shared parts are components", () => {
    expect(JSON.stringify(document).length).toBeLessThan(495_000);
  });

  test("describes common headers in the introduction, and lists headers at responses where clients use them", () => {
    const { info } = document as OpenApiDocument & { info: { description: string } };
    const limits = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
    const headers = [...limits, "RateLimit-Policy", "RateLimit"];
    for (const name of ["X-Request-Id", ...headers]) expect(info.description).toContain(`\`${name}\``);
    for (const { name, operation } of listOperations(document)) {
      const { 429: limited, 500: failed } = operation.responses ?? {};
      const found = [Object.keys(failed?.headers ?? {}), limited && Object.keys(limited.headers ?? {})];
      expect([name, ...found]).toEqual([name, ["X-Request-Id"], limited && [...headers, "Retry-After"]]);
    }
  });

  test("has If-None-Match wherever a response can be 304", () => {
    const operations = listOperations(document).filter(({ operation }) => operation.responses?.["304"]);
    expect(operations.length).toBeGreaterThan(20);
    for (const { name, operation } of operations) {
      const names = operation.parameters.map((parameter) => parameter.name);
      expect([name, names.filter((header) => header === "If-None-Match")]).toEqual([name, ["If-None-Match"]]);
    }
  });
});

test("the document has no default or example that Swagger UI would send as an optional query parameter", async () => {
  const parameters = listOperations(document)
    .flatMap(({ operation }) => operation.parameters ?? [])
    .filter((parameter) => parameter.in === "query" && !parameter.required);
  expect(parameters.length).toBeGreaterThan(30);
  for (const { name, schema, example } of parameters) {
    expect([name, example, schema]).toEqual([
      name,
      undefined,
      expect.not.objectContaining({ default: expect.anything() }),
    ]);
  }
  const limits = parameters.filter(({ name }) => name === "limit");
  for (const { description } of limits) expect(description).toMatch(/ Default: (?:`\d+`|all)\.$/);
});

test("every dataset has an operation with its own flags, filters and rows", async () => {
  const operations = listOperations(document);
  for (const dataset of EXPORT_DATASET_NAMES) {
    const { flags, filters } = EXPORT_DATASETS[dataset];
    const found = operations.find(({ path }) => path === `/api/v1/export/projects/{project}/${dataset}`);
    const parameters = found?.operation.parameters?.map(({ name }) => name);
    const common = ["project", "X-Org-Slug", "format", "as_of", "since", "created_from", "created_to"];
    const own = [...flags, ...filters.map(({ name }) => name)];
    expect([dataset, parameters]).toEqual([dataset, [...common, ...own]]);
    const rows = found?.operation.responses?.["200"]?.content?.["application/x-ndjson"];
    expect(rows).toEqual({
      schema: {
        type: "string",
        contentMediaType: "application/x-ndjson",
        contentSchema: { type: "array", items: { $ref: `#/components/schemas/${dataset}` } },
      },
    });
  }
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(ids).toEqual(expect.arrayContaining(["exportIssues", "exportIssueNotes", "exportAnalysisRecords"]));
});

test("X-Org-Slug is described once, in the parameter that every operation references", async () => {
  const text = JSON.stringify(document);
  expect(text.match(/"name":"X-Org-Slug"/g)).toHaveLength(1);
  expect(text.match(/"\$ref":"#\/components\/parameters\/OrgSlug"/g)?.length).toBeGreaterThan(25);
});

describe("the document's schemas", () => {
  test("are named for requests and responses, so that clients can import types", async () => {
    const names = Object.keys(document.components.schemas);
    expect(names).toEqual(
      expect.arrayContaining([
        ...["Definition", "DefinitionSummary", "NewDefinition", "DefinitionUpdate", "Provenance"],
        ...["Version", "Diff", "DependencyNode", "Dependent", "Fork", "Lineage", "ExecutionStatistics"],
        ...["Model", "ModelSummary", "Provider", "Alias", "PriceChange"],
        ...["ExportJob", "NewExportJob", "Manifest", "OrganizationManifest", "Dataset", "Estimate"],
        ...["Organization", "OrganizationSummary", "OrganizationProfile", "Member", "Project", "AuditEntry"],
        ...[
          "User",
          "UserProfile",
          "Session",
          "ApiKey",
          "NewApiKey",
          "Credential",
          "NotFoundError",
          "ValidationError",
        ],
      ]),
    );
  });

  test("include a named schema for every request body", async () => {
    for (const { name, operation } of listOperations(document)) {
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
        expect([name, schema]).toEqual([name, { $ref: expect.any(String) }]);
      }
    }
  });

  test("are named for every object in a response's lists", async () => {
    for (const { name, operation } of listOperations(document)) {
      for (const [status, { content = {} }] of Object.entries(operation.responses ?? {})) {
        const unnamed = unnamedItems(content["application/json"]?.schema, []);
        expect([name, status, unnamed]).toEqual([name, status, []]);
      }
    }
  });
});

/** Returns the schemas that have a `type` within a part of the document, each with its path. */
function schemasIn(node: unknown, place: readonly string[]): [readonly string[], Record<string, unknown>][] {
  if (typeof node !== "object" || node === null || Array.isArray(node)) return [];
  const inner = Object.entries(node)
    .filter(([key]) => !["example", "examples"].includes(key))
    .flatMap(([key, value]) =>
      Array.isArray(value)
        ? value.flatMap((item, index) => schemasIn(item, [...place, key, String(index)]))
        : schemasIn(value, [...place, key]),
    );
  // A property can be named "type". Its value is then a schema.
  const isSchema = "type" in node && (typeof node.type === "string" || Array.isArray(node.type));
  return isSchema ? [[place, { ...node }], ...inner] : inner;
}

function examplesOf({ example, examples = {} }: OpenApiMedia): unknown[] {
  return [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)];
}

/** Returns the paths of a schema's lists whose items are inline objects instead of component references. */
function unnamedItems(schema: unknown, place: readonly string[]): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { items, properties = {} } = schema as { items?: { type?: unknown }; properties?: object };
  if (items) return items.type === "object" ? [place.join(".")] : unnamedItems(items, place);
  return Object.entries(properties).flatMap(([name, inner]) => unnamedItems(inner, [...place, name]));
}
