/** Lists the operations of the OpenAPI document. */
import type {
  OpenApiDocument,
  OpenApiMethod,
  OpenApiOperation,
  OpenApiParameter,
} from "../../../api/openapi/types.ts";

export interface DescribedOperation {
  /** The name for messages, such as `GET /api/v1/models`. */
  name: string;
  method: string;
  /** The method in the document's spelling, such as `get`. */
  key: OpenApiMethod;
  path: string;
  /** The operation with its references resolved, except references to schemas. */
  operation: Omit<OpenApiOperation, "parameters"> & { parameters: readonly OpenApiParameter[] };
}

export async function readDocument(api: {
  request(path: string): Promise<Response>;
}): Promise<OpenApiDocument> {
  return (await (await api.request("/swagger/json")).json()) as OpenApiDocument;
}

/**
 * Replaces all references, except references to schemas, with their targets. Gives operations without `security` the
 * document's.
 */
export function withInlineComponents(document: OpenApiDocument): OpenApiDocument {
  const inline = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inline);
    if (typeof node !== "object" || node === null) return node;
    const reference = "$ref" in node ? String(node.$ref) : "";
    const [, kind = "", name = ""] = /^#\/components\/(?!schemas)(\w+)\/(.+)$/.exec(reference) ?? [];
    if (kind === "")
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inline(value)]));
    const found = document.components[kind as keyof OpenApiDocument["components"]][name];
    if (!found) throw new Error(`Cannot find ${reference} in the document`);
    return inline(found);
  };
  const paths = inline(document.paths) as OpenApiDocument["paths"];
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  for (const operation of operations) operation.security ??= document.security;
  return { ...document, paths };
}

export function listOperations(document: OpenApiDocument): DescribedOperation[] {
  return Object.entries(withInlineComponents(document).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([key, operation]) => {
      const method = key.toUpperCase();
      const described = { ...operation, parameters: operation.parameters ?? [] };
      return { name: `${method} ${path}`, method, key: key as OpenApiMethod, path, operation: described };
    }),
  );
}
