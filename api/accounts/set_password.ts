/** Sets a new password, and ends what depends on the old one, whether its user changed or reset it, or an operator set it. */
import { endAccountLinks } from "../../sql/accounts/account_mails.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { markSessionsRevoked } from "../../sql/accounts/sessions.ts";
import { deleteSignInNetworks } from "../../sql/accounts/sign_in_networks.ts";
import { updateUserPassword } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";

interface NewPassword {
  user: { id: string; username: string };
  passwordHash: string;
  /** The hash of the password that it replaces; any if omitted. */
  fromHash?: string;
  action: "password.change" | "password.reset" | "password.set";
  actor: AuditActor;
  /** The session and the network of the person who changes it. */
  keep?: { sessionId: string; network: string };
}

/**
 * Stores a password, ends the user's sessions and the links in their mails, forgets their networks and adds an audit
 * entry. API keys stay valid. Returns the ids of the ended sessions, for the credential cache; null if the password is
 * no longer `fromHash`. Call inside a transaction.
 */
export async function setPassword(tx: Sql, password: NewPassword): Promise<string[] | null> {
  const { user, passwordHash, fromHash, action, actor, keep } = password;
  const { id: userId } = user;
  if (!(await updateUserPassword(tx, { id: userId, passwordHash, fromHash }))) return null;
  const ended = await markSessionsRevoked(tx, { userId, exceptId: keep?.sessionId });
  await deleteSignInNetworks(tx, { userId, exceptNetwork: keep?.network });
  await endAccountLinks(tx, { kind: "password_reset", userId });
  await endAccountLinks(tx, { kind: "email_change", userId });
  await insertAuditEntry(tx, {
    ...actor,
    action,
    subject: { type: "user", id: userId },
    details: { username: user.username, endedSessions: ended.length },
  });
  return ended;
}
