/** `key create`, `key list` and `key revoke`: API keys, which are shown once and stored as hashes. */
import { isUuid } from "../../shared/uuid.ts";
import { KEY_KINDS, KEY_SCOPES } from "../../shared/vocabulary.ts";
import { type ApiKeyRow, listApiKeys } from "../../sql/accounts/api_keys.ts";
import { issueKey, revokeApiKey } from "../accounts/key_changes.ts";
import { AdminError, defineCommand, OPERATOR, parseInstantFlag, UsageError } from "./command/command.ts";
import { fields, table } from "./command/format_output.ts";
import { requireOrg, requireUser, USER_FLAG } from "./command/lookups.ts";

export const KEY_COMMANDS = [
  defineCommand({
    name: "key create",
    about: "Creates an API key and shows it once.",
    flags: {
      user: { placeholder: "U", required: true, about: "username of the key's owner" },
      org: {
        placeholder: "S",
        about: "slug of the organization the key is bound to; default: all the owner's organizations",
      },
      kind: { words: KEY_KINDS, about: "kind of key, default user" },
      scope: { words: KEY_SCOPES, about: "scope of the key, default write" },
      name: { placeholder: "N", about: "label of the key" },
      expires: { placeholder: "ISO", about: "expiry date or time" },
    },
    async run({ sql, warn }, values) {
      const { kind = "user", scope = "write", name = null, org = null } = values;
      const expiresAt = values.expires === undefined ? null : parseInstantFlag("expires", values.expires);
      const { secret, row } = await sql.begin(async (tx) => {
        const user = await requireUser(tx, values.user);
        if (org !== null) await requireOrg(tx, org);
        return issueKey(tx, { user, kind, scope, name, organization: org, expiresAt, actor: OPERATOR });
      });
      // An expired key is allowed, so an operator can test how clients handle it.
      if (expiresAt !== null && Date.parse(expiresAt) <= Date.now())
        warn("Note: the key has already expired");
      return {
        json: { id: row.id, key: secret, prefix: row.prefix, kind: row.kind, scope: row.scope },
        text: [
          fields({
            Key: secret,
            Id: row.id,
            Kind: `${row.kind}, scope ${row.scope}`,
            "Works for": org ?? "all the owner's organizations",
            Expires: row.expiresAt ?? "never",
          }),
          "Copy this key now. It will not be shown again.",
        ].join("\n"),
      };
    },
  }),
  defineCommand({
    name: "key list",
    about: "Lists the unrevoked keys of a user, newest first.",
    flags: { user: USER_FLAG },
    async run({ sql }, values) {
      const user = await requireUser(sql, values.user);
      const keys = await listApiKeys(sql, user.id);
      return { json: { keys }, text: keyTable(keys) };
    },
  }),
  defineCommand({
    name: "key revoke",
    about: "Revokes a key. It stops working within a second.",
    flags: { id: { placeholder: "ID", required: true, about: "id of the key (not the key itself)" } },
    async run({ sql }, { id }) {
      if (!isUuid(id)) throw new UsageError("--id must be the UUID of a key");
      const key = await sql.begin((tx) => revokeApiKey(tx, { id, actor: OPERATOR }));
      if (!key) throw new AdminError(`Key "${id}" not found`, "NOT_FOUND");
      return {
        json: { id: key.id, revokedAt: key.revokedAt },
        text: fields({ Key: key.id, Revoked: key.revokedAt }),
      };
    },
  }),
];

export function keyTable(keys: readonly ApiKeyRow[]): string {
  return table(
    ["KEY", "NAME", "KIND", "SCOPE", "LAST USED", "EXPIRES", "CREATED", "ID"],
    keys.map((key) => [
      ...[`${key.prefix}…`, key.name ?? "-", key.kind, key.scope],
      ...[key.lastUsedAt ?? "never", key.expiresAt ?? "never", key.createdAt, key.id],
    ]),
    "No unrevoked keys.",
  );
}
