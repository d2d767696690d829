/** Abusers who send deeply nested JSON, some of it incomplete, to routes that take a body, with and without a credential. */
import { type AbuserKind, abuse } from "../abuse.ts";

const DEPTHS = [100, 5_000, 20_000, 60_000];
const ROUTES = [
  ["POST", "/auth/login"],
  ["POST", "/auth/keys"],
  ["POST", "/users/batch"],
  ["POST", "/export/jobs"],
  ["POST", "/definitions/agent/hostile-nested"],
  ["PUT", "/definitions/agent/hostile-nested@1.0.0"],
  ["POST", "/definitions/agent/steady-agent-1@1.0.0/fork"],
  ["POST", "/definitions/agent/steady-agent-1@1.0.0/deprecate"],
  ["POST", "/definitions/agent/steady-agent-1/executions"],
] as const;

export const makeNester: AbuserKind = (assault) => async () => {
  const { chance, person, sessionToken } = assault;
  const [method, path] = chance.pick(ROUTES);
  const depth = chance.pick(DEPTHS);
  const rawBody = chance.pick([
    "[".repeat(depth) + "]".repeat(depth),
    `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
    `{"yaml":${"[".repeat(depth)}`,
    `{"name":"${"[".repeat(depth)}"`,
  ]);
  const key = chance.pick(["", person.key, sessionToken]);
  const expects = [400, 401, 403, 404, 413, 422];
  await abuse(assault, { method, path: `/api/v1${path}`, key, rawBody, expects });
};
