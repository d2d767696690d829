/** Changes of a user's profile, and by operators also of address and role. */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { type UserChanges, updateUser } from "../../sql/accounts/users.ts";
import { type Sql, violates } from "../../sql/connection/pool.ts";
import { aboutProblem, checkTexts, emailProblem, nameProblem, websiteProblem } from "./profile_fields.ts";

const RULES = {
  name: nameProblem,
  email: emailProblem,
  bio: aboutProblem,
  websiteUrl: websiteProblem,
};

/**
 * Changes the given fields and adds an audit entry, which has their names. Without fields, it does nothing. Call inside a
 * transaction. Throws VALIDATION_ERROR, and NAME_TAKEN if another user has the email.
 */
export async function changeUser(
  tx: Sql,
  change: { user: { id: string; username: string }; changes: UserChanges; actor: AuditActor },
): Promise<void> {
  const { user, changes, actor } = change;
  checkUserChanges(changes);
  const changed = Object.keys(changes);
  if (changed.length === 0) return;
  await updateUser(tx, user.id, changes).catch((error: unknown) => {
    if (!violates(error, "users_email_key")) throw error;
    throw new ApiError("NAME_TAKEN", { message: TEXTS.NAME_TAKEN.email(String(changes.email)) });
  });
  await insertAuditEntry(tx, {
    ...actor,
    action: "user.update",
    subject: { type: "user", id: user.id },
    details: { username: user.username, changed: changed.join(", ") },
  });
}

/** Throws VALIDATION_ERROR with every invalid field. */
export function checkUserChanges(changes: UserChanges): void {
  checkTexts({ ...changes }, RULES);
}
