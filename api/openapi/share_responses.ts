/** Moves the error responses of all operations, and 304, to `components`, where equal ones stand once. */
import { mapValues } from "./complete.ts";
import { pascalCase } from "./error_schemas.ts";
import type { OpenApiDocument, OpenApiExample, OpenApiResponse } from "./types.ts";

/** Returns the paths with references, and the components that these refer to by name. */
export function shareResponses(paths: OpenApiDocument["paths"]): {
  paths: OpenApiDocument["paths"];
  responses: Record<string, OpenApiResponse>;
  examples: Record<string, OpenApiExample>;
} {
  const responses = createComponents<OpenApiResponse>("responses");
  const examples = createComponents<OpenApiExample>("examples");

  function withSharedExamples(response: OpenApiResponse): OpenApiResponse {
    if (!response.content) return response;
    const content = mapValues(response.content, (media) => ({
      ...media,
      examples: Object.fromEntries(
        Object.entries(media.examples ?? {}).map(([name, example]) => [
          name,
          examples.share(pascalCase(name.replace(/ .*/, "")), example),
        ]),
      ),
    }));
    return { ...response, content };
  }

  const shared = mapValues(paths, (path) =>
    mapValues(path, (operation) => ({
      ...operation,
      responses: Object.fromEntries(
        Object.entries(operation.responses ?? {}).map(([status, response]) => [
          status,
          Number(status) >= 300 ? responses.share(nameOf(response), withSharedExamples(response)) : response,
        ]),
      ),
    })),
  );
  return { paths: shared, responses: responses.byName, examples: examples.byName };
}

/** Collects components of one kind: equal ones have one name, others of the same name get a number. */
function createComponents<Value extends object>(kind: string) {
  const byName: Record<string, Value> = {};
  const names = new Map<string, string>();
  return {
    byName,
    share(name: string, value: Value): { $ref: string } {
      const text = JSON.stringify(value);
      const own = names.get(text) ?? freeName(name, byName);
      names.set(text, own);
      byName[own] = value;
      return { $ref: `#/components/${kind}/${own}` };
    },
  };
}

/** Joins the codes of an error response: `SessionRequiredOrForbiddenOrigin`. A response without codes is a 304. */
function nameOf({ description = "" }: OpenApiResponse): string {
  const codes = [...description.matchAll(/^`([A-Z_]+)`/gm)].map(([, code = ""]) => code);
  return codes.map(pascalCase).join("Or") || "NotModified";
}

function freeName(name: string, taken: Readonly<Record<string, unknown>>, count = 1): string {
  const free = count === 1 ? name : `${name}${count}`;
  return free in taken ? freeName(name, taken, count + 1) : free;
}
