/** Table `sign_in_networks`: networks from which users have signed in. */
import { anyRow, type Sql } from "../connection/pool.ts";

/** Returns true if the account with this email has signed in from the network in the last 30 days. */
export async function existsSignInNetwork(
  sql: Sql,
  key: { email: string; network: string },
): Promise<boolean> {
  return anyRow(sql`
    select
    from users u
    join sign_in_networks n on n.user_id = u.id
    where lower(u.email) = lower(${key.email})
      and n.network = ${key.network}
      and n.last_signed_in_at > now() - interval '30 days'
    limit 1`);
}

export async function upsertSignInNetwork(sql: Sql, key: { userId: string; network: string }): Promise<void> {
  await sql`
    insert into sign_in_networks (user_id, network)
    values (${key.userId}, ${key.network})
    on conflict on constraint sign_in_networks_pkey do update
    set last_signed_in_at = now()`;
}

/** Deletes the networks of an account except `exceptNetwork`, because an attacker may have signed in from them. */
export async function deleteSignInNetworks(
  sql: Sql,
  key: { userId: string; exceptNetwork?: string | undefined },
): Promise<void> {
  await sql`
    delete from sign_in_networks
    where user_id = ${key.userId} and network is distinct from ${key.exceptNetwork ?? null}`;
}
