/** Abusers who try keys that do not exist, far above their address's rate limit. */
import { type AbuserKind, abuse } from "../abuse.ts";

export const makeGuesserOfKeys: AbuserKind = (assault) => async () => {
  const { chance } = assault;
  const secret = Array.from({ length: 43 }, () => chance.integer(36).toString(36)).join("");
  const path = chance.pick(["/auth/me", "/models", "/definitions", "/export/jobs"]);
  await abuse(assault, { path: `/api/v1${path}`, key: `ulr_${secret}`, expects: [401] });
};
