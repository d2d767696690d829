/** `session create`: signs a user in from the command line. */
import { mintSessionToken } from "../../shared/credentials.ts";
import { insertAuditEntry } from "../../sql/audit_log.ts";
import { insertSession } from "../../sql/sessions.ts";
import { defineCommand } from "./command.ts";
import { requireUser } from "./lookups.ts";
import { fields } from "./present.ts";

const HOUR_MS = 3_600_000;

export const createSessionCommand = defineCommand({
  name: "session create",
  about: "Signs a user in for SESSION_TTL_HOURS and shows the token this once.",
  flags: { user: { placeholder: "U", required: true, about: "username" } },
  async run({ sql, sessionTtlHours }, values) {
    const { secret, hash } = mintSessionToken();
    const session = await sql.begin(async (tx) => {
      const user = await requireUser(tx, values.user);
      const expiresAt = new Date(Date.now() + sessionTtlHours * HOUR_MS).toISOString();
      const inserted = await insertSession(tx, { userId: user.id, tokenHash: hash, expiresAt });
      await insertAuditEntry(tx, {
        actorType: "operator",
        action: "session.create",
        subjectType: "session",
        subjectId: inserted.id,
        details: { username: user.username, expiresAt: inserted.expiresAt },
      });
      return inserted;
    });
    return {
      json: { sessionToken: secret, expiresAt: session.expiresAt },
      text: fields([
        ["Session token", secret],
        ["Expires", session.expiresAt],
      ]),
    };
  },
});
