/** `org create`, `list`, `update`, `set-tier`, `delete` and `restore`: organizations and their subscriptions. */
import { SUBSCRIPTION_TIERS } from "../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { ORG_RESTORE_DAYS } from "../../sql/accounts/organization_deletion.ts";
import { listOrgs, type OrgRow, updateOrgTier } from "../../sql/accounts/orgs.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { createOrg } from "../accounts/organizations/create.ts";
import { cancelOrgDeletion, scheduleOrgDeletion } from "../accounts/organizations/delete.ts";
import { changeOrg, checkOrgChanges } from "../accounts/organizations/update.ts";
import { accountSlugProblem, nameProblem } from "../accounts/profile_fields.ts";
import { changeWithMails } from "./change_with_mails.ts";
import { type CommandResult, checkFlags, defineCommand, OPERATOR, UsageError } from "./command/command.ts";
import { fields, table } from "./command/format_output.ts";
import { ORG_FLAG, requireOrg } from "./command/lookups.ts";

export const ORG_COMMANDS = [
  defineCommand({
    name: "org create",
    about: "Creates an organization without members.",
    flags: {
      slug: {
        placeholder: "S",
        required: true,
        about: "lower case, unique among organizations and usernames",
      },
      name: { placeholder: "N", required: true, about: "display name" },
      tier: { words: SUBSCRIPTION_TIERS, about: "subscription, default free" },
    },
    async run({ sql }, { slug, name, tier }) {
      checkFlags({ slug: accountSlugProblem(slug), name: nameProblem(name) });
      const input = { slug, name, subscriptionTier: tier ?? "free", actor: OPERATOR } as const;
      return present(await sql.begin((tx) => createOrg(tx, input)));
    },
  }),
  defineCommand({
    name: "org list",
    about: "Lists all organizations, newest first.",
    flags: {},
    async run({ sql }) {
      const organizations = await listOrgs(sql);
      return {
        json: { organizations },
        text: table(
          ["SLUG", "NAME", "SUBSCRIPTION", "MEMBERS", "CREATED", "DELETED ON", "ID"],
          organizations.map((org) => [
            ...[org.slug, org.name, org.subscriptionTier, String(org.memberCount)],
            ...[org.createdAt, org.deletesAt ?? "", org.id],
          ]),
          "No organizations.",
        ),
      };
    },
  }),
  defineCommand({
    name: "org update",
    about: "Updates the given fields of an organization.",
    flags: {
      org: ORG_FLAG,
      name: { placeholder: "N", about: "display name" },
      description: { placeholder: "TEXT", about: "public description" },
      website: { placeholder: "URL", about: "public http or https URL" },
    },
    async run({ sql }, { org: slug, name, description, website }) {
      const given = Object.entries({ name, description, websiteUrl: website });
      const changes = Object.fromEntries(given.filter(([, value]) => value !== undefined));
      if (Object.keys(changes).length === 0) {
        throw new UsageError("Nothing to update. Pass --name, --description or --website.");
      }
      // Report invalid flags before an unknown organization.
      checkOrgChanges(changes);
      return sql.begin(async (tx) => {
        await changeOrg(tx, { org: await requireOrg(tx, slug), changes, actor: OPERATOR });
        return present(await requireOrg(tx, slug));
      });
    },
  }),
  defineCommand({
    name: "org set-tier",
    about: "Changes the subscription of an organization.",
    flags: {
      org: ORG_FLAG,
      tier: { words: SUBSCRIPTION_TIERS, required: true, about: "the subscription" },
    },
    async run({ sql }, { org: slug, tier }) {
      return present(
        await sql.begin(async (tx) => {
          const before = await requireOrg(tx, slug);
          const org = (await updateOrgTier(tx, { slug, subscriptionTier: tier })) ?? before;
          await insertAuditEntry(tx, {
            actorType: "operator",
            action: "org.set-tier",
            subject: { type: "organization", id: org.id },
            orgId: org.id,
            details: { from: before.subscriptionTier, to: tier },
          });
          return org;
        }),
      );
    },
  }),
  defineCommand({
    name: "org delete",
    about: `Deletes an organization after ${ORG_RESTORE_DAYS} days, with its members, keys, webhooks, drafts and projects.`,
    flags: {
      org: ORG_FLAG,
      confirm: { placeholder: "S", required: true, about: "the slug again" },
    },
    async run({ sql }, { org: slug, confirm }) {
      checkFlags({ confirm: confirm === slug ? null : `must be the organization's slug, ${slug}` });
      return changeEnd(sql, slug, scheduleOrgDeletion);
    },
  }),
  defineCommand({
    name: "org restore",
    about: "Takes the deletion of an organization back.",
    flags: { org: ORG_FLAG },
    async run({ sql, warn }, { org: slug }) {
      const { deletesAt } = await requireOrg(sql, slug);
      if (deletesAt === null) warn(`Note: organization "${slug}" is not deleted. Nothing was changed.`);
      return changeEnd(sql, slug, cancelOrgDeletion);
    },
  }),
];

function present(org: OrgRow): CommandResult {
  const { id, slug, name, subscriptionTier, deletesAt } = org;
  return {
    json: { id, slug, name, subscriptionTier, deletesAt },
    text: fields({
      Organization: `${name} (${slug})`,
      Id: id,
      Subscription: subscriptionTier,
      "Deleted on": deletesAt,
    }),
  };
}

/** Schedules or cancels the deletion of an organization and notifies its owners by email. */
async function changeEnd(
  sql: Pool,
  slug: string,
  change: typeof scheduleOrgDeletion,
): Promise<CommandResult> {
  const org = await requireOrg(sql, slug);
  return present(await changeWithMails(sql, (tx, boss) => change(tx, { org, actor: OPERATOR, boss })));
}
