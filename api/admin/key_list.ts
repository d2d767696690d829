/** `key list`: the keys of a user, without their secrets, which are not stored. */
import { type ApiKeyRow, listApiKeys } from "../../sql/accounts/api_keys.ts";
import { presentKey } from "../accounts/keys.ts";
import { defineCommand } from "./command/command.ts";
import { requireUser } from "./command/lookups.ts";
import { table } from "./command/present.ts";

export function keyTable(keys: readonly ApiKeyRow[]): string {
  return table(
    ["KEY", "NAME", "KIND", "SCOPE", "LAST USED", "EXPIRES", "CREATED", "ID"],
    keys.map((key) => [
      ...[`${key.prefix}…`, key.name ?? "-", key.kind, key.scope],
      ...[key.lastUsedAt ?? "never", key.expiresAt ?? "never", key.createdAt, key.id],
    ]),
  );
}

export const listKeysCommand = defineCommand({
  name: "key list",
  about: "Lists the unrevoked keys of a user, newest first.",
  flags: { user: { placeholder: "U", required: true, about: "username" } },
  async run({ sql }, values) {
    const user = await requireUser(sql, values.user);
    const keys = await listApiKeys(sql, user.id);
    return { json: { keys: keys.map(presentKey) }, text: keyTable(keys) };
  },
});
