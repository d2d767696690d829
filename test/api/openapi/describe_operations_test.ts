import { expect, test } from "bun:test";
import { operation, reply } from "../../../api/http/operation.ts";
import { flag } from "../../../api/http/query.ts";
import { describeOperations } from "../../../api/openapi/describe_operations.ts";

const rows = { contentMediaType: "application/x-ndjson", type: "string" };

/** One route that is documented at two paths, like exports with and without a file extension. */
const getRows = operation(
  {
    id: "getRows",
    method: "GET",
    path: "/api/v1/rows/{name}",
    access: "caller",
    tag: "Rows",
    summary: "Get rows",
    description: "Rows of a table.",
    uncheckedQuery: { format: flag(false, "Not documented") },
    response: { 200: { description: "Rows", files: { "text/csv": "a,b" } } },
    documentedAs: [
      {
        id: "getIssues",
        path: "/api/v1/rows/issues",
        summary: "Get issues",
        uncheckedQuery: { open: flag(false, "Only open ones") },
        response: { 200: { description: "Lines", files: { "application/x-ndjson": rows } } },
      },
      {
        id: "getIssuesCsv",
        path: "/api/v1/rows/issues.csv",
        summary: "Get issues as CSV",
        uncheckedQuery: {},
        response: { 200: { description: "Rows", files: { "text/csv": "a,b" } } },
      },
    ],
  },
  async () => reply(200, null),
);

test("each form of an operation is documented at its own path, with its own id, parameters and responses", () => {
  const paths = describeOperations([getRows]);
  expect(Object.keys(paths)).toEqual(["/api/v1/rows/issues", "/api/v1/rows/issues.csv"]);
  const [lines, csv] = Object.values(paths).map(({ get }) => get);
  expect([lines?.operationId, lines?.summary, lines?.description]).toEqual([
    "getIssues",
    "Get issues",
    "Rows of a table.",
  ]);
  expect(lines?.parameters).toMatchObject([{ name: "open", in: "query" }]);
  expect(lines?.responses?.["200"]?.content).toEqual({ "application/x-ndjson": { schema: rows } });
  expect(csv?.parameters).toBeUndefined();
  expect(csv?.responses?.["200"]?.content).toEqual({
    "text/csv": { schema: { type: "string" }, example: "a,b" },
  });
});
