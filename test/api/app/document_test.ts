/** The OpenAPI document describes the declared operations, and no others. */
import { expect, test } from "bun:test";
import type { AnyOperation, DocumentedForm } from "../../../api/http/operation.ts";
import { listServiceOperations } from "../../../api/operations.ts";
import { ERRORS } from "../../../shared/errors.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { type DescribedOperation, listOperations, readDocument } from "../../helpers/http/openapi.ts";

function formsOf({ documentedAs, ...operation }: AnyOperation): AnyOperation[] {
  return documentedAs?.map((form: DocumentedForm) => ({ ...operation, ...form })) ?? [operation];
}

/** Returns the names of the parameters in alphabetical order. */
function declaredParameters(operation: AnyOperation): string[] {
  const { path, method, query, uncheckedQuery, yamlQuery, usesOrg, conditional } = operation;
  return [
    ...[...path.matchAll(/\{\+?(\w+)\}/g)].map(([, name]) => name ?? ""),
    ...Object.keys({ ...query, ...uncheckedQuery, ...yamlQuery, ...operation.requestHeaders }),
    ...(usesOrg ? ["X-Org-Slug"] : []),
    ...(conditional ? ["If-None-Match"] : []),
    ...(method === "POST" ? ["Idempotency-Key"] : []),
  ].sort();
}

/** Returns the declared statuses. The document adds the statuses of errors that every operation can return. */
function declaredStatuses({ response, conditional, fails = [] }: AnyOperation): string[] {
  const failures = fails.map((failure) => ERRORS[typeof failure === "string" ? failure : failure[0]].status);
  return [...Object.keys(response), ...(conditional ? ["304"] : []), ...failures.map(String)];
}

function describe({ method, path, operation }: DescribedOperation) {
  const { operationId = "", parameters, responses = {}, security = [], requestBody } = operation;
  return {
    id: `${operationId}: ${method} ${path}`,
    parameters: parameters.map(({ name }) => name).sort(),
    statuses: Object.keys(responses),
    isPublic: security.length === 0 || security.some((scheme) => Object.keys(scheme).length === 0),
    hasBody: requestBody !== undefined,
  };
}

test("the document describes exactly the declared operations, with parameters, statuses, access and body", async () => {
  await using api = await openTestApp();
  const described = listOperations(await readDocument(api)).map(describe);
  const declared = listServiceOperations(api.deps).flatMap(formsOf);
  const idOf = ({ id, method, path }: AnyOperation) => `${id}: ${method} ${path.replace("{+", "{")}`;
  expect(described.map(({ id }) => id).sort()).toEqual(declared.map(idOf).sort());
  const byId = new Map(described.map((operation) => [operation.id, operation]));
  for (const operation of declared) {
    const id = idOf(operation);
    const found = byId.get(id);
    expect([id, found?.parameters]).toEqual([id, declaredParameters(operation)]);
    expect([id, found?.statuses]).toEqual([id, expect.arrayContaining(declaredStatuses(operation))]);
    expect([id, found?.isPublic]).toEqual([id, operation.access === "public"]);
    const hasBody = operation.body !== undefined || operation.uncheckedBody !== undefined;
    expect([id, found?.hasBody]).toEqual([id, hasBody]);
  }
});

test("no route is registered twice, and every operation has a route", async () => {
  await using api = await openTestApp();
  const routes = api.app.routes.map(({ method, pattern }) => `${method} ${pattern}`);
  expect(new Set(routes).size).toBe(routes.length);
  const declared = listServiceOperations(api.deps).map(
    ({ method, path }) => `${method} ${path.replace(/\{\+\w+\}$/, "*").replaceAll(/\{(\w+)\}/g, ":$1")}`,
  );
  for (const route of declared) expect(routes).toContain(route);
});
