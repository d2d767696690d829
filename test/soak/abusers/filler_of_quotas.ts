/** Abusers who keep creating keys and drafts after they have used up their quotas. */
import { agentYaml } from "../../helpers/definitions/definitions.ts";
import { type AbuserKind, abuse } from "../abuse.ts";

export const makeFillerOfQuotas: AbuserKind = (assault) => {
  const { person, sessionToken } = assault;
  let made = 0;
  return async () => {
    made += 1;
    await abuse(assault, {
      method: "POST",
      path: "/api/v1/auth/keys",
      key: sessionToken,
      body: { name: `key ${made}` },
      expects: [201, 409],
    });
    // These drafts fill the quota of the personal organization, which is on the free tier.
    const name = `hostile-quota-${made}`;
    await abuse(assault, {
      method: "POST",
      path: `/api/v1/definitions/agent/${name}`,
      key: person.key,
      org: person.personalOrg.slug,
      body: { yaml: agentYaml(name) },
      expects: [201, 409],
    });
  };
};
