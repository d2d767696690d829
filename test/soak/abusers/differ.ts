/** Abusers who request several diffs at once, between two large documents that have almost no lines in common. */
import { agentYaml } from "../../helpers/definitions/definitions.ts";
import { type AbuserKind, abuse } from "../abuse.ts";
import { makeWords } from "./words.ts";

const CONNECTIONS = 4;
const LINES = 2000;
const VERSIONS = ["1.0.0", "1.0.1"];

export const makeDiffer: AbuserKind = (assault) => {
  const { chance, person } = assault;
  const sender = { key: person.key, org: person.org.slug };
  const path = "/api/v1/definitions/agent/hostile-differ";
  const missing = new Set(VERSIONS);
  return async () => {
    for (const version of missing) {
      const text = Array.from({ length: LINES }, () => `      - ${makeWords(chance, 4)}`).join("\n");
      const yaml = `${agentYaml("hostile-differ", version)}    rules:\n${text}\n`;
      const status = await abuse(assault, {
        method: "POST",
        path,
        ...sender,
        body: { yaml },
        expects: [201, 409],
      });
      if (status === 201 || status === 409) missing.delete(version);
    }
    if (missing.size > 0) return;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, () => {
        const query = new URLSearchParams({
          from: "1.0.0",
          to: "1.0.1",
          full: "true",
          format: chance.pick(["unified", "fields", "sections"]),
        });
        return abuse(assault, { path: `${path}/diff?${query}`, ...sender });
      }),
    );
  };
};
