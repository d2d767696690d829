/** Abusers who guess passwords of existing and unknown users, from one address and from many. */
import { type AbuserKind, abuse } from "../abuse.ts";

const MANY_ADDRESSES = 0.3;
const UNKNOWN = 0.2;

export const makeGuesserOfPasswords: AbuserKind = (assault) => async () => {
  const { soak, chance } = assault;
  const email = chance.happens(UNKNOWN)
    ? `nobody-${chance.integer(1000)}@example.com`
    : chance.pick(soak.world.accounts).email;
  const body = { email, password: `guess number ${chance.integer(1_000_000)}` };
  const from = `198.18.${chance.integer(256)}.${chance.integer(256)}`;
  const headers = chance.happens(MANY_ADDRESSES) ? { "x-forwarded-for": from } : {};
  await abuse(assault, { method: "POST", path: "/api/v1/auth/login", body, headers, expects: [401] });
};
