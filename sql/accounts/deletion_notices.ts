/** Queues mails to all owners of an organization about its end. */
import type { Sql } from "../connection/pool.ts";
import type { Boss } from "../queue.ts";
import { type AccountMailDetails, queueAccountMail } from "./account_mails.ts";
import { listOwners } from "./orgs.ts";

export interface DeletionNotice {
  org: { id: string; slug: string; name: string };
  /** Who did it; null for an operator or the service. */
  actorUserId: string | null;
  /** The key of a text in jobs/account_mail/deletion_notice.ts. */
  about: string;
  details?: AccountMailDetails;
}

/** Queues the mails. Call inside the transaction of the change, while those who are to know are owners. */
export async function queueDeletionNotices(
  tx: Sql,
  boss: Boss,
  { org, actorUserId, about, details }: DeletionNotice,
): Promise<void> {
  const owners = await listOwners(tx, org.id);
  // In one order, because each takes a lock of its address.
  owners.sort((a, b) => (a.email.toLowerCase() < b.email.toLowerCase() ? -1 : 1));
  const [actor] = await tx<{ username: string }[]>`
    select username
    from users
    where id = ${actorUserId}`;
  for (const { id, email } of owners) {
    await queueAccountMail(tx, boss, {
      ...{ kind: "deletion_notice", email, userId: id, orgId: org.id },
      details: { about, by: actor?.username ?? null, name: org.name, slug: org.slug, ...details },
    });
  }
}
