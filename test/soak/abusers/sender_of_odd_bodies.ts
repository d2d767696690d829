/** Abusers who send bodies other than JSON objects where an object is expected, optional or forbidden. */
import { type AbuserKind, abuse } from "../abuse.ts";

const BODIES = [
  "[]",
  "1",
  '"x"',
  "true",
  "null",
  "1e400",
  "-0",
  '"{\\"scope\\":\\"read\\"}"',
  "[[[]]]",
  "[1,2]",
];
const ROUTES = [
  ["POST", "/auth/keys"],
  ["POST", "/auth/logout"],
  ["POST", "/export/jobs"],
  ["POST", "/users/batch"],
  ["PUT", "/definitions/agent/steady-agent-1@1.0.0"],
  ["DELETE", "/definitions/agent/steady-agent-1@1.0.0"],
  ["POST", "/definitions/agent/steady-agent-1@1.0.0/publish"],
  ["POST", "/definitions/agent/steady-agent-1@1.0.0/archive"],
  ["POST", "/definitions/agent/steady-agent-1@1.0.0/retranslate"],
] as const;

export const makeSenderOfOddBodies: AbuserKind = (assault) => async () => {
  const { chance, sessionToken } = assault;
  const [method, path] = chance.pick(ROUTES);
  const rawBody = chance.pick(BODIES);
  await abuse(assault, { method, path: `/api/v1${path}`, key: sessionToken, rawBody, expects: [400] });
};
