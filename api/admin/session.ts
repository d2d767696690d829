/** `session create`, `list` and `revoke`. */
import { isUuid } from "../../shared/uuid.ts";
import { listSessions, type SessionRow } from "../../sql/accounts/sessions.ts";
import { beginSession, endSession, endSessions } from "../accounts/session_changes.ts";
import { AdminError, defineCommand, OPERATOR, UsageError } from "./command/command.ts";
import { fields, table } from "./command/format_output.ts";
import { requireUser, USER_FLAG } from "./command/lookups.ts";

export const SESSION_COMMANDS = [
  defineCommand({
    name: "session create",
    about: "Creates a session for SESSION_TTL_HOURS and shows its token once.",
    flags: { user: USER_FLAG },
    async run({ sql, config: { sessionTtlHours: ttlHours } }, values) {
      const session = await sql.begin(async (tx) => {
        const user = await requireUser(tx, values.user);
        return beginSession(tx, { user, ttlHours, device: null, secondFactor: "operator", actor: OPERATOR });
      });
      if (!session) {
        throw new AdminError(
          `Cannot create a session for "${values.user}": the user is disabled. Run \`user enable --user ${values.user}\` first.`,
        );
      }
      const { sessionToken, expiresAt } = session;
      return {
        json: { sessionToken, expiresAt },
        text: fields({ "Session token": sessionToken, Expires: expiresAt }),
      };
    },
  }),
  defineCommand({
    name: "session list",
    about: "Lists the live sessions of a user, newest first.",
    flags: { user: USER_FLAG },
    async run({ sql }, values) {
      const user = await requireUser(sql, values.user);
      const sessions = await listSessions(sql, user.id);
      return { json: { sessions }, text: sessionTable(sessions) };
    },
  }),
  defineCommand({
    name: "session revoke",
    about: "Ends one session, or all sessions of a user, within a second.",
    flags: {
      id: { placeholder: "ID", about: "id of the session, not its token" },
      user: { placeholder: "U", about: "username, to end all sessions of the user" },
    },
    async run({ sql, warn }, { id, user: username }) {
      if ((id === undefined) === (username === undefined)) {
        throw new UsageError("Pass either --id or --user");
      }
      if (id !== undefined && !isUuid(id)) throw new UsageError("--id must be the UUID of a session");
      const ended =
        id === undefined
          ? await sql.begin(async (tx) => {
              const user = await requireUser(tx, username ?? "");
              return endSessions(tx, { user, actor: OPERATOR });
            })
          : Number(await sql.begin((tx) => endSession(tx, { id, actor: OPERATOR })));
      if (id !== undefined && ended === 0) warn("Note: no live session has this id");
      return { json: { revoked: ended }, text: `Sessions ended: ${ended}` };
    },
  }),
];

export function sessionTable(sessions: readonly SessionRow[]): string {
  return table(
    ["SESSION", "CREATED", "LAST USED", "EXPIRES", "ADDRESS", "USER AGENT"],
    sessions.map((session) => [
      ...[session.id, session.createdAt, session.lastUsedAt, session.expiresAt],
      ...[session.address ?? "-", session.userAgent ?? "-"],
    ]),
    "No live sessions.",
  );
}
