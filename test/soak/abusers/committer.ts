/** Abusers who write almost without pause: several connections of one user create and delete small drafts. */
import { agentYaml } from "../../helpers/definitions/definitions.ts";
import { type AbuserKind, abuse } from "../abuse.ts";

const CONNECTIONS = 3;

export const makeCommitter: AbuserKind = (assault) => {
  const { person } = assault;
  const sender = { key: person.key, org: person.org.slug };
  let drafts = 0;
  return async () => {
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        drafts += 1;
        const name = `hostile-commit-${drafts}`;
        const path = `/api/v1/definitions/agent/${name}`;
        const body = { yaml: agentYaml(name) };
        const status = await abuse(assault, { method: "POST", path, ...sender, body, expects: [201, 409] });
        if (status !== 201) return;
        await abuse(assault, { method: "DELETE", path: `${path}@1.0.0`, ...sender });
      }),
    );
  };
};
