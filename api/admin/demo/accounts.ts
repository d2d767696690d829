/** The demo's accounts: users, organizations, empty projects and credentials. */
import { randomBytes } from "node:crypto";
import type { KeyKind, KeyScope } from "../../../shared/vocabulary.ts";
import { findProjectByName, type ProjectRow } from "../../../sql/accounts/projects.ts";
import { updateUserPassword } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { hashPassword } from "../../accounts/password_rules.ts";
import { createKey } from "../key.ts";
import { requireOrg, requireUser } from "../lookups.ts";
import { addMember } from "../member.ts";
import { createOrg } from "../org.ts";
import { createProject, findProjectOwner } from "../project.ts";
import { createUser } from "../user.ts";
import type { DemoCredentials } from "./credentials.ts";
import { DEMO_ORGS, DEMO_PROJECTS, DEMO_USERS, type DemoProject } from "./plan.ts";

/** Creates users, organizations, memberships and empty projects. Call inside a transaction. */
export async function createDemoAccounts(tx: Sql): Promise<void> {
  for (const user of DEMO_USERS) await createUser(tx, { ...user, password: makePassword() });
  for (const { slug, name, subscriptionTier, members } of DEMO_ORGS) {
    const org = await createOrg(tx, { slug, name, subscriptionTier });
    for (const [username, role] of Object.entries(members)) {
      await addMember(tx, { org, user: await requireUser(tx, username), role });
    }
  }
  for (const { orgSlug, name } of DEMO_PROJECTS) {
    const org = await requireOrg(tx, orgSlug);
    await createProject(tx, { org, name, ownerId: await findProjectOwner(tx, { org, owner: undefined }) });
  }
}

/** Finds a demo project. Throws if it does not exist. */
export async function requireDemoProject(sql: Sql, { orgSlug, name }: DemoProject): Promise<ProjectRow> {
  const org = await requireOrg(sql, orgSlug);
  const project = await findProjectByName(sql, { orgId: org.id, name });
  if (!project) throw new Error(`Cannot fill the demo project "${name}": it does not exist`);
  return project;
}

/** Creates keys that are not bound to an organization, and a password for the owner. Call inside a transaction. */
export async function createDemoCredentials(tx: Sql): Promise<DemoCredentials> {
  const makeKey = async (username: string, name: string, [kind, scope]: readonly [KeyKind, KeyScope]) => {
    const user = await requireUser(tx, username);
    return (await createKey(tx, { user, org: null, kind, scope, name, expiresAt: null })).secret;
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
