/** Requests with bodies that are made to keep the API busy, by kind, for every route that takes one. */

import type { OpenApiDocument } from "../../api/openapi/types.ts";
import type { JsonSchema } from "../../shared/json_schema.ts";
import { agentNeeding, agentYaml } from "../helpers/definitions/definitions.ts";
import { HOSTILE_YAML } from "../helpers/definitions/hostile_yaml.ts";
import { deepBodies, longStrings, WIDE_BODIES, wrongBodies } from "../helpers/http/hostile_json.ts";
import { LARGE_BODIES } from "../helpers/http/large_bodies.ts";
import { listOperations } from "../helpers/http/openapi.ts";

export interface HostileRequest {
  method: string;
  path: string;
  body: string;
}

export interface HostileKind {
  name: string;
  requests: readonly HostileRequest[];
}

interface WriteRoute {
  method: string;
  path: string;
  /** That the body may have. */
  members: readonly string[];
}

/** Makes the requests for the API at this URL, whose description names the routes. */
export async function hostileKinds(url: string): Promise<HostileKind[]> {
  const document = (await (await fetch(`${url}/swagger/json`)).json()) as OpenApiDocument;
  const routes = writeRoutes(document);
  const toAll = (name: string, bodies: (members: readonly string[]) => readonly string[]): HostileKind => ({
    name,
    requests: routes.flatMap(({ method, path, members }) =>
      bodies(members).map((body) => ({ method, path, body })),
    ),
  });
  return [
    toAll("nested JSON", deepBodies),
    toAll("wide JSON", () => WIDE_BODIES),
    toAll("JSON that is wrong everywhere", wrongBodies),
    toAll("JSON of one long string", longStrings),
    {
      name: "YAML bombs",
      requests: toDrafts(
        HOSTILE_YAML.map(
          ([, yaml]) =>
            () =>
              yaml,
        ),
      ),
    },
    {
      name: "large documents",
      requests: toDrafts(
        LARGE_BODIES.map(
          ([, type, body]) =>
            (name) =>
              documentOf(name, type, body),
        ),
      ),
    },
    { name: "batches of 200 documents", requests: batches() },
  ];
}

/** Bodies are at most this large; the JSON around the texts needs some of it. */
const MAX_TEXT_BYTES = 900_000;

/** Stores and tries 200 documents at once: a chain, large ones, ones with many references, and YAML bombs. */
function batches(): HostileRequest[] {
  const number = (make: (n: number) => string) => Array.from({ length: 200 }, (_, n) => make(n));
  const needs = (n: number) => Array.from({ length: 100 }, (_, k) => `other-${n}-${k}@^1.0.0`);
  const filler = Array.from({ length: 40 }, (_, k) => `    - "${"text ".repeat(18)}${k}"\n`).join("");
  const bombs = HOSTILE_YAML.map(([, yaml]) => yaml);
  const kinds = [
    number((n) => agentNeeding(`chain-${n}`, n === 0 ? [] : [`chain-${n - 1}@^1.0.0`])),
    number((n) => `${agentYaml(`large-${n}`)}  notes:\n${filler}`),
    number((n) => agentNeeding(`needing-${n}`, needs(n))),
    number((n) => bombs[n % bombs.length] ?? ""),
  ];
  return kinds.flatMap((yamls) => {
    let bytes = 0;
    const fitting = yamls.filter((yaml) => {
      const length = Buffer.byteLength(JSON.stringify(yaml));
      if (bytes + length > MAX_TEXT_BYTES) return false;
      bytes += length;
      return true;
    });
    const definitions = fitting.map((yaml) => ({ yaml }));
    return [true, false].map((validate) => {
      const body = JSON.stringify({ definitions, publish: true, validate });
      return { method: "POST", path: "/api/v1/definitions/batch", body };
    });
  });
}

/** What a route's path means is nothing that exists: bodies are read first. */
function writeRoutes(document: OpenApiDocument): WriteRoute[] {
  return listOperations(document)
    .filter(({ method }) => method !== "GET" && method !== "HEAD")
    .map(({ method, path, operation }) => {
      const schema = operation.requestBody?.content?.["application/json"]?.schema as JsonSchema | undefined;
      const members = Object.keys(schema?.["properties"] ?? {});
      return { method, path: path.replaceAll(/\{\w+\}/g, "x"), members };
    });
}

/** Creates a draft for each text, and changes it to the text: writers of one draft would turn each other away. */
function toDrafts(texts: readonly ((name: string) => string)[]): HostileRequest[] {
  const drafts = texts.map((text, number) => ({ name: `hostile-${number}`, text }));
  const pathOf = (name: string) => `/api/v1/definitions/agent/${name}`;
  return [
    ...drafts.map(({ name }) => toPost(pathOf(name), agentYaml(name))),
    ...drafts.flatMap(({ name, text }) => [
      toPost(pathOf(name), text(name)),
      { method: "PUT", path: `${pathOf(name)}@1.0.0`, body: JSON.stringify({ yaml: text(name) }) },
    ]),
  ];
}

function toPost(path: string, yaml: string): HostileRequest {
  return { method: "POST", path, body: JSON.stringify({ yaml }) };
}

/** JSON is YAML. */
function documentOf(name: string, type: string, body: unknown): string {
  const { interface: header, ...blocks } = body as { interface: object };
  return JSON.stringify({ [type]: { interface: { ...header, name, version: "1.0.0" }, ...blocks } });
}
