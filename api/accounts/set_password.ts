/** Sets a new password and ends sessions and mailed links, for users and operators. */
import { endAccountLinks } from "../../sql/accounts/account_mails.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { markSessionsRevoked } from "../../sql/accounts/sessions.ts";
import { deleteSignInNetworks } from "../../sql/accounts/sign_in_networks.ts";
import { updateUserPassword } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";

interface NewPassword {
  user: { id: string; username: string };
  passwordHash: string;
  /** Hash of the expected current password. If omitted, any current password is replaced. */
  fromHash?: string;
  action: "password.change" | "password.reset" | "password.set";
  actor: AuditActor;
  /** The session and network of the current request, which are kept. */
  keep?: { sessionId: string; network: string };
}

/**
 * Stores a password and adds an audit entry. Ends the user's sessions and mailed links, and forgets their networks. API keys
 * stay valid. Returns the ids of the ended sessions, for the credential cache; null if `fromHash` is no longer current. Call
 * inside a transaction.
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
