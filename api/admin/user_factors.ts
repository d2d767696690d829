/** `user remove-factors`: for a user who has lost all second factors and recovery codes. */
import { queueAccountMail } from "../../sql/accounts/account_mails.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { replaceRecoveryCodes } from "../../sql/accounts/recovery_codes.ts";
import { deleteSecondFactors } from "../../sql/accounts/second_factors.ts";
import { markSessionsRevoked } from "../../sql/accounts/sessions.ts";
import { changeWithMails } from "./change_with_mails.ts";
import { AdminError, defineCommand } from "./command/command.ts";
import { requireUser } from "./command/lookups.ts";
import { fields } from "./command/present.ts";

export const removeFactorsCommand = defineCommand({
  name: "user remove-factors",
  about:
    "Removes all second factors and recovery codes of a user, ends their sessions, and tells them by mail.",
  flags: { user: { placeholder: "U", required: true, about: "username" } },
  async run({ sql }, { user: username }) {
    const removed = await changeWithMails(sql, async (tx, boss) => {
      const user = await requireUser(tx, username);
      const userId = user.id;
      const factors = await deleteSecondFactors(tx, userId);
      if (factors === 0) throw new AdminError(`User "${username}" has no second factor.`);
      await replaceRecoveryCodes(tx, { userId, hashes: [] });
      const sessions = (await markSessionsRevoked(tx, { userId })).length;
      await insertAuditEntry(tx, {
        actorType: "operator",
        action: "factor.reset",
        subject: { type: "user", id: userId },
        details: { username, factors, endedSessions: sessions },
      });
      await queueAccountMail(tx, boss, {
        kind: "factor_notice",
        email: user.email,
        userId,
        details: { event: "reset" },
      });
      return { id: userId, factorsRemoved: factors, sessionsRevoked: sessions };
    });
    return {
      json: removed,
      text: fields([
        ["User", username],
        ["Factors removed", removed.factorsRemoved],
        ["Sessions ended", removed.sessionsRevoked],
      ]),
    };
  },
});
