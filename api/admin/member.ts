/** `member add` and `member remove`: the members of an organization and their roles. */
import { ORG_ROLES, type OrgRole } from "../../shared/vocabulary.ts";
import { findLeadingMember, findMemberRole } from "../../sql/accounts/organization_members.ts";
import { lockOrg, type OrgRow } from "../../sql/accounts/orgs.ts";
import { addMember, changeMemberRole, endMembership } from "../accounts/members/member_changes.ts";
import { changeWithMails } from "./change_with_mails.ts";
import { type CommandContext, type CommandResult, defineCommand, OPERATOR } from "./command/command.ts";
import { fields } from "./command/format_output.ts";
import { ORG_FLAG, requireOrg, requireUser, USER_FLAG } from "./command/lookups.ts";

export const MEMBER_COMMANDS = [
  defineCommand({
    name: "member add",
    about: "Adds a user to an organization, or changes the role of a member.",
    flags: {
      org: ORG_FLAG,
      user: USER_FLAG,
      role: { words: ORG_ROLES, required: true, about: "role in the organization" },
    },
    async run(context, { org: slug, user: username, role }) {
      const org = await requireOrg(context.sql, slug);
      const { id: userId } = await requireUser(context.sql, username);
      await changeWithMails(context.sql, async (tx, boss) => {
        const change = { boss, actor: OPERATOR, org, userId, role };
        // Wait for a concurrent acceptance of an invitation, after which the user is already a member.
        await lockOrg(tx, org.id);
        const isMember = await findMemberRole(tx, { orgId: org.id, userId });
        await (isMember ? changeMemberRole(tx, change) : addMember(tx, { ...change, username }));
      });
      await warnOwnerless(context, org);
      return present("Member", { org: slug, user: username, role });
    },
  }),
  defineCommand({
    name: "member remove",
    about: "Removes a user from an organization. The last owner stays: add another one first.",
    flags: {
      org: ORG_FLAG,
      user: USER_FLAG,
    },
    async run({ sql }, { org: slug, user: username }) {
      const org = await requireOrg(sql, slug);
      const { id: userId } = await requireUser(sql, username);
      const { role } = await changeWithMails(sql, (tx, boss) =>
        endMembership(tx, { boss, actor: OPERATOR, org, userId }),
      );
      return present("Removed", { org: slug, user: username, role });
    },
  }),
];

/** Warns if the organization has no owner. This is allowed, because `org create` adds no members. */
async function warnOwnerless({ sql, warn }: CommandContext, org: OrgRow): Promise<void> {
  if ((await findLeadingMember(sql, org.id))?.role === "owner") return;
  warn(`Note: organization "${org.slug}" has no owner`);
}

function present(verb: string, member: { org: string; user: string; role: OrgRole }): CommandResult {
  const { org, user, role } = member;
  return {
    json: member,
    text: fields({ [verb]: user, Organization: org, Role: role }),
  };
}
