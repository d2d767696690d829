/** Walks through the OpenAPI document. */
import type {
  OpenApiDocument,
  OpenApiMethod,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiReference,
} from "../../../api/openapi/types.ts";

export interface DescribedOperation {
  /** For messages: `GET /api/v1/models`. */
  name: string;
  method: string;
  /** In the document's spelling. */
  key: OpenApiMethod;
  path: string;
  /** With parameters in place of references. */
  operation: Omit<OpenApiOperation, "parameters"> & { parameters: readonly OpenApiParameter[] };
}

export async function readDocument(api: {
  request(path: string): Promise<Response>;
}): Promise<OpenApiDocument> {
  return (await (await api.request("/swagger/json")).json()) as OpenApiDocument;
}

/** Replaces references to error responses and their examples by their targets. */
export function withInlineResponses(document: OpenApiDocument): OpenApiDocument {
  const inline = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inline);
    if (typeof node !== "object" || node === null) return node;
    const reference = "$ref" in node ? String(node.$ref) : "";
    const [, kind = "", name = ""] = /^#\/components\/(responses|examples)\/(.+)$/.exec(reference) ?? [];
    if (kind === "")
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inline(value)]));
    const found = document.components[kind as "responses" | "examples"][name];
    if (!found) throw new Error(`Cannot find ${reference} in the document`);
    return inline(found);
  };
  return { ...document, paths: inline(document.paths) as OpenApiDocument["paths"] };
}

export function listOperations(document: OpenApiDocument): DescribedOperation[] {
  return Object.entries(withInlineResponses(document).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([key, operation]) => {
      const method = key.toUpperCase();
      const parameters = (operation.parameters ?? []).map((parameter) => resolve(document, parameter));
      const resolved = { ...operation, parameters };
      return { name: `${method} ${path}`, method, key: key as OpenApiMethod, path, operation: resolved };
    }),
  );
}

function resolve(
  document: OpenApiDocument,
  parameter: OpenApiParameter | OpenApiReference,
): OpenApiParameter {
  if (!("$ref" in parameter)) return parameter;
  const [, name = ""] = /^#\/components\/parameters\/(\w+)$/.exec(parameter.$ref) ?? [];
  const shared = document.components.parameters[name];
  if (!shared) throw new Error(`Cannot find ${parameter.$ref} in the document`);
  return shared;
}
