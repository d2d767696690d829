/** Creates the demo's users, organizations and credentials. */
import { randomBytes } from "node:crypto";
import type { KeyKind, KeyScope } from "../../../shared/vocabulary.ts";
import { updateUserPassword } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { createAccount } from "../../accounts/create_account.ts";
import { issueKey } from "../../accounts/key_changes.ts";
import { addMember } from "../../accounts/members/member_changes.ts";
import { createOrg } from "../../accounts/organizations/create.ts";
import { hashPassword } from "../../accounts/password_rules.ts";
import { OPERATOR } from "../command/command.ts";
import { requireUser } from "../command/lookups.ts";
import type { DemoCredentials } from "./credentials.ts";
import type { DemoContent } from "./demo_bundle.ts";

/** Creates users, organizations and memberships. Call inside a transaction. */
export async function createDemoAccounts(tx: Sql, { users, orgs }: DemoContent): Promise<void> {
  for (const user of users) {
    const passwordHash = await hashPassword(makePassword());
    await createAccount(tx, { ...user, passwordHash, actor: OPERATOR });
  }
  for (const { slug, name, subscriptionTier, members } of orgs) {
    const org = await createOrg(tx, { slug, name, subscriptionTier, actor: OPERATOR });
    for (const [username, role] of Object.entries(members)) {
      const { id: userId } = await requireUser(tx, username);
      await addMember(tx, { boss: null, actor: OPERATOR, org, userId, username, role });
    }
  }
}

/** Creates keys that are not bound to an organization, and the owner's password. Call inside a transaction. */
export async function createDemoCredentials(tx: Sql): Promise<DemoCredentials> {
  const makeKey = async (username: string, name: string, [kind, scope]: readonly [KeyKind, KeyScope]) => {
    const user = await requireUser(tx, username);
    const key = { user, kind, scope, name, organization: null, expiresAt: null, actor: OPERATOR };
    return (await issueKey(tx, key)).secret;
  };
  const owner = await requireUser(tx, "demo-owner");
  const password = makePassword();
  await updateUserPassword(tx, { id: owner.id, passwordHash: await hashPassword(password) });
  return {
    email: owner.email,
    password,
    keys: {
      owner: await makeKey("demo-owner", "demo owner", ["user", "write"]),
      publisher: await makeKey("demo-publisher", "demo publisher", ["user", "write"]),
      viewer: await makeKey("demo-viewer", "demo viewer", ["user", "write"]),
      automation: await makeKey("demo-owner", "demo automation", ["automation", "read"]),
      platformAdmin: await makeKey("demo-platform-admin", "demo platform admin", ["user", "write"]),
    },
  };
}

function makePassword(): string {
  return randomBytes(15).toString("base64url");
}
