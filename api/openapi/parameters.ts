/** The parameters that operations share in the OpenAPI document. */
import { TEXT } from "../../shared/json_schema.ts";
import type { OpenApiOperation, OpenApiParameter, OpenApiReference } from "./types.ts";

/** By component name. */
const OPENAPI_PARAMETERS: Readonly<Record<string, OpenApiParameter>> = {
  OrgSlug: {
    name: "X-Org-Slug",
    in: "header",
    description:
      "The organization to use, which you must be a member of. Default: the organization of the key. Without one, reads " +
      "of definitions search everything you can see, writes to a definition use the only organization where you can " +
      "change it, and everything else uses your personal organization",
    example: "demo",
    schema: TEXT,
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description:
      "The `ETag` of an earlier response. The response is 304, without a body, if nothing has changed",
    schema: TEXT,
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "1 to 128 printable ASCII characters that you choose for this request. If you lose the response, repeat the request " +
      "with the same key within 24 hours: you get the same response with `Idempotency-Replayed: true`, and nothing is " +
      "written twice",
    schema: TEXT,
  },
};

/** `If-None-Match`: every operation that can respond 304 has it. */
export const IF_NONE_MATCH: OpenApiReference = { $ref: "#/components/parameters/IfNoneMatch" };

/** `Idempotency-Key`. */
export const IDEMPOTENCY_KEY: OpenApiReference = { $ref: "#/components/parameters/IdempotencyKey" };

/** `X-Org-Slug`. */
export const ORG_SLUG: OpenApiReference = { $ref: "#/components/parameters/OrgSlug" };

/**
 * Puts references in place of parameters that several operations have, and returns the components. Of parameters with the
 * same name, the one that most operations have becomes a component.
 */
export function shareParameters(operations: readonly OpenApiOperation[]): Record<string, OpenApiParameter> {
  const uses = new Map<string, { parameter: OpenApiParameter; operations: number }>();
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    if ("$ref" in parameter) continue;
    const text = JSON.stringify(parameter);
    const known = uses.get(text);
    uses.set(text, { parameter, operations: (known?.operations ?? 0) + 1 });
  }
  const shared = { ...OPENAPI_PARAMETERS };
  const names = new Map<string, string>();
  for (const [text, { parameter, operations: count }] of [...uses].sort(
    ([, a], [, b]) => b.operations - a.operations,
  )) {
    const name = parameter.name.replaceAll(/(?:^|\W|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (count === 1 || name in shared) continue;
    shared[name] = parameter;
    names.set(text, name);
  }
  for (const operation of operations) {
    if (!operation.parameters) continue;
    operation.parameters = operation.parameters.map((parameter) => {
      const name = names.get(JSON.stringify(parameter));
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` };
    });
  }
  return shared;
}
