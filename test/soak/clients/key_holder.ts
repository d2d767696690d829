/** Clients that sign in, create keys, use and revoke them, sign out, and try revoked credentials. */
import { type Ask, ask } from "../ask.ts";
import type { Chance } from "../chance.ts";
import type { ClientKind, Soak } from "../soak.ts";

const AUTH = "/api/v1/auth";
const WRONG_PASSWORD = 0.1;
/** The number of keys per session. */
const KEYS = 3;
/** The number of revoked credentials to try after each key. */
const TRIED = 2;

/** A signed-in user. */
interface Holder {
  soak: Soak;
  chance: Chance;
  token: string;
}

export const makeKeyHolder: ClientKind = (soak, chance, number) => {
  const account = soak.world.accounts[number % soak.world.accounts.length];
  if (!account) throw new Error("Cannot sign in: there is no account");
  const { email, password } = account;

  /** Signs in and returns the session token; null if the sign-in was not confirmed. */
  async function signIn(): Promise<string | null> {
    if (chance.happens(WRONG_PASSWORD)) {
      const body = { email, password: "not the password" };
      await ask(soak, chance, { method: "POST", path: `${AUTH}/login`, body, expects: [401] });
    }
    const answer = await ask(soak, chance, {
      method: "POST",
      path: `${AUTH}/login`,
      body: { email, password },
    });
    if (answer?.status !== 200) return null;
    soak.tally.add("sign-ins");
    return answer.json<{ data: { sessionToken: string } }>().data.sessionToken;
  }

  return async () => {
    const token = await signIn();
    if (token === null) return;
    const holder = { soak, chance, token };
    for (let keys = 0; keys < KEYS && !soak.over.aborted; keys += 1) await holdKey(holder);
    const answer = await ask(soak, chance, {
      method: "POST",
      path: `${AUTH}/logout`,
      key: token,
      expects: [204],
    });
    if (answer?.status === 204) soak.ledgers.keys.acknowledgeDead(token);
  };
};

async function holdKey({ soak, chance, token }: Holder): Promise<void> {
  const { keys } = soak.ledgers;
  keys.begin();
  const body = { name: "soak", scope: chance.pick(["read", "write"]) };
  const made = await ask(soak, chance, {
    method: "POST",
    path: `${AUTH}/keys`,
    key: token,
    body,
    expects: [201],
  });
  if (made?.status !== 201) return;
  const { key, apiKey } = made.json<{ data: { key: string; apiKey: { id: string } } }>().data;
  keys.acknowledge(apiKey.id);
  soak.tally.add("keys");
  // Every process must accept a new key immediately.
  await ask(soak, chance, { path: `${AUTH}/me`, key });
  keys.beginRevoking(apiKey.id);
  const revoked = await ask(soak, chance, {
    method: "DELETE",
    path: `${AUTH}/keys/${apiKey.id}`,
    key: token,
    expects: [204],
  });
  if (revoked?.status !== 204) return;
  keys.acknowledgeRevoked(apiKey.id, key);
  for (const dead of chance.shuffle(keys.dead).slice(0, TRIED)) await ask(soak, chance, deadRead(dead));
}

/** Returns a read with a credential that every process must refuse. */
export function deadRead(key: string): Ask {
  return { path: `${AUTH}/me`, key, expects: [401] };
}
