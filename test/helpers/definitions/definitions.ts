/** Creates definitions over HTTP, or directly in SQL. */

import type { DefinitionStatus, DefinitionType, DefinitionVisibility } from "../../../shared/vocabulary.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { Definition } from "../../../sql/definitions/fields.ts";
import type { TestApp, TestRequest } from "../http/app.ts";
import type { OrgRow, Person } from "../postgres/factory.ts";

const DEFINITIONS_PATH = "/api/v1/definitions";

/** Fields for the `interface` of a document, such as `{ domain: "security" }`. */
export type InterfaceFields = Readonly<Record<string, string>>;

/** Returns a small agent document that can be rendered. */
export function agentYaml(name: string, version = "1.0.0", fields: InterfaceFields = {}): string {
  const lines = {
    displayName: "Reviewer",
    description: "Reviews a change and says what to mend before it is merged.",
    agentType: "explorer",
    domain: "software",
    ...fields,
  };
  return [
    "agent:",
    "  interface:",
    `    name: ${name}`,
    `    version: "${version}"`,
    ...Object.entries(lines).map(([key, value]) => `    ${key}: ${value}`),
    "  mission:",
    "    opener: You review one change at a time and report what you find.",
    "",
  ].join("\n");
}

/** Returns an agent document with dependencies: `agentNeeding("a", ["b@^1.0.0"])`. */
export function agentNeeding(name: string, requires: readonly string[], version = "1.0.0"): string {
  const list = requires.map((reference) => JSON.stringify(reference)).join(", ");
  return agentYaml(name, version, { dependencies: `{ requires: [${list}] }` });
}

/** Returns a document that can be stored but not rendered. */
export function bareYaml(type: DefinitionType, name: string, version = "1.0.0"): string {
  return `${type}:\n  interface:\n    name: ${name}\n    version: "${version}"\n`;
}

/** A user, identified by their key, and the organization they select with `X-Org-Slug`. */
export type Caller = { key: string; org?: Pick<OrgRow, "slug"> };

/** Sends a request about definitions. `path` is relative to `/definitions`. */
export function ask(
  api: Pick<TestApp, "request">,
  path: string,
  caller: Caller | null,
  options: TestRequest = {},
): Promise<Response> {
  return api.request(`${DEFINITIONS_PATH}${path}`, {
    ...(caller ? { key: caller.key } : {}),
    ...options,
    headers: { ...(caller?.org ? { "x-org-slug": caller.org.slug } : {}), ...options.headers },
  });
}

/** Sends a write: a POST request unless `options` has another method. */
export function write(
  api: Pick<TestApp, "request">,
  path: string,
  caller: Caller,
  options: TestRequest = {},
): Promise<Response> {
  return ask(api, path, caller, { method: "POST", ...options });
}

/** Returns the definition in a response. Throws for an error response. */
export async function definitionOf(response: Response): Promise<Definition> {
  const body = (await response.json()) as { data?: Definition };
  if (!body.data) throw new Error(`Cannot read a definition: ${response.status} ${JSON.stringify(body)}`);
  return body.data;
}

/** Creates a draft over HTTP; throws if that fails. */
export async function createAgent(
  api: Pick<TestApp, "request">,
  caller: Caller,
  given: { name: string; version?: string; yaml?: string } & Readonly<Record<string, unknown>>,
): Promise<Definition> {
  const { name, version = "1.0.0", yaml = agentYaml(name, version), ...rest } = given;
  return definitionOf(await write(api, `/agent/${name}`, caller, { body: { yaml, ...rest } }));
}

/** Creates and publishes an agent over HTTP; throws if that fails. */
export async function publishAgent(
  api: Pick<TestApp, "request">,
  caller: Caller,
  given: Parameters<typeof createAgent>[2],
): Promise<Definition> {
  const { name, version } = await createAgent(api, caller, given);
  return definitionOf(await write(api, `/agent/${name}@${version}/publish`, caller));
}

/** Returns the status, code and details of an error response. */
export async function errorOf(response: Response): Promise<readonly unknown[]> {
  const { error } = (await response.json()) as { error?: { code: string; details?: unknown } };
  return [response.status, error?.code, ...(error?.details === undefined ? [] : [error.details])];
}

export interface DefinitionColumns {
  type?: DefinitionType;
  name: string;
  version?: string;
  status?: DefinitionStatus;
  visibility?: DefinitionVisibility;
  /** The time of the line's first publication; ignored if the line already has such a time. */
  firstPublishedAt?: string | null;
  successor?: string | null;
}

export interface MadeDefinition {
  id: string;
  lineId: string;
}

/** Creates a version in any state, and its line if the line does not exist yet. */
export async function makeDefinition(
  sql: Sql,
  owner: Pick<Person, "user" | "org">,
  columns: DefinitionColumns,
): Promise<MadeDefinition> {
  const { type = "agent", name, version = "1.0.0", status = "draft", visibility = "private" } = columns;
  const at = "2026-01-02T00:00:00.000Z";
  const isPublished = status !== "draft";
  const isDeprecated = isPublished && status !== "published";
  const { firstPublishedAt = isPublished ? at : null } = columns;
  const [line] = await sql<[{ id: string }]>`
    insert into definition_lines (org_id, type, name, first_published_at)
    values (${owner.org.id}, ${type}, ${name}, ${firstPublishedAt})
    on conflict on constraint definition_lines_org_id_type_name_key do update
    set first_published_at = coalesce(definition_lines.first_published_at, excluded.first_published_at)
    returning id`;
  const [row] = await sql<[{ id: string }]>`
    insert into definitions (
      line_id, org_id, type, name, version, status, visibility, yaml, hash, display_name, author_id, change_type,
      published_at, deprecated_at, archived_at, deprecation_reason, successor
    )
    values (
      ${line.id}, ${owner.org.id}, ${type}, ${name}, ${version}, ${status}, ${visibility},
      ${type === "agent" ? agentYaml(name, version) : bareYaml(type, name, version)}, ${`sha256:${"0".repeat(64)}`},
      ${name}, ${owner.user.id}, 'major', ${isPublished ? at : null}, ${isDeprecated ? at : null},
      ${status === "archived" ? at : null}, ${isDeprecated ? "Made anew" : null},
      ${isDeprecated ? (columns.successor ?? null) : null}
    )
    returning id`;
  return { id: row.id, lineId: line.id };
}
