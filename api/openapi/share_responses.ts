/** Moves the error responses of all operations, and 304, to `components`, where equal ones stand once. */
import { mapValues } from "./complete.ts";
import { pascalCase } from "./error_schemas.ts";
import type { OpenApiDocument, OpenApiResponse } from "./types.ts";

/** Returns the paths with references, and the responses that these refer to by name. */
export function shareResponses(paths: OpenApiDocument["paths"]): {
  paths: OpenApiDocument["paths"];
  responses: Record<string, OpenApiResponse>;
} {
  const responses: Record<string, OpenApiResponse> = {};
  const names = new Map<string, string>();

  function share(response: OpenApiResponse): OpenApiResponse {
    const text = JSON.stringify(response);
    const name = names.get(text) ?? freeName(nameOf(response), responses);
    names.set(text, name);
    responses[name] = response;
    return { $ref: `#/components/responses/${name}` };
  }

  const shared = mapValues(paths, (path) =>
    mapValues(path, (operation) => ({
      ...operation,
      responses: Object.fromEntries(
        Object.entries(operation.responses ?? {}).map(([status, response]) => [
          status,
          Number(status) >= 300 ? share(response) : response,
        ]),
      ),
    })),
  );
  return { paths: shared, responses };
}

/** Joins the codes of an error response: `SessionRequiredOrForbiddenOrigin`. A response without codes is a 304. */
function nameOf({ description = "" }: OpenApiResponse): string {
  const codes = [...description.matchAll(/^`([A-Z_]+)`/gm)].map(([, code = ""]) => code);
  return codes.map(pascalCase).join("Or") || "NotModified";
}

/** Responses of the same codes differ in their examples. */
function freeName(name: string, taken: Readonly<Record<string, unknown>>, count = 1): string {
  const free = count === 1 ? name : `${name}${count}`;
  return free in taken ? freeName(name, taken, count + 1) : free;
}
