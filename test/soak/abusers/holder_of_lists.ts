/** Abusers who request the longest lists on many connections and read them very slowly. */
import { type AbuserKind, holdOn } from "../abuse.ts";

const CONNECTIONS = 8;
const HOLD_MS = [3_000, 20_000] as const;

export const makeHolderOfLists: AbuserKind = (assault) => async () => {
  const { chance, person } = assault;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, () => {
      const path = chance.pick([
        "/definitions?limit=100",
        "/definitions?limit=100&status=draft",
        "/models?limit=200",
        "/models?format=csv",
        "/definitions/agent/steady-agent-1/dependencies",
      ]);
      const key = chance.pick(["", person.key]);
      return holdOn(assault, { path: `/api/v1${path}`, key, holdMs: chance.between(...HOLD_MS) });
    }),
  );
};
