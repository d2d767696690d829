/** `org create` and `org set-tier`: organizations and what they subscribe to. */
import { isAccountSlug } from "../../shared/slugs.ts";
import { SUBSCRIPTION_TIERS, type SubscriptionTier } from "../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../sql/audit_log.ts";
import { insertOrg, type OrgRow, updateOrgTier } from "../../sql/orgs.ts";
import { type Sql, violates } from "../../sql/pool.ts";
import { AdminError, type CommandResult, defineCommand, UsageError } from "./command.ts";
import { requireOrg } from "./lookups.ts";
import { fields } from "./present.ts";

/** Makes an organization that has no member yet. Call inside a transaction. */
export async function createOrg(
  tx: Sql,
  input: { slug: string; name: string; subscriptionTier: SubscriptionTier },
): Promise<OrgRow> {
  const org = await insertOrg(tx, { ...input, isPersonal: false }).catch((error: unknown) => {
    if (!violates(error, "organizations_slug_key")) throw error;
    throw new AdminError(`Cannot create organization "${input.slug}": the slug is taken`);
  });
  await insertAuditEntry(tx, {
    actorType: "operator",
    action: "org.create",
    subjectType: "organization",
    subjectId: org.id,
    orgId: org.id,
    details: { slug: org.slug, subscriptionTier: org.subscriptionTier },
  });
  return org;
}

function present(org: OrgRow): CommandResult {
  const { id, slug, name, subscriptionTier } = org;
  return {
    json: { id, slug, name, subscriptionTier },
    text: fields([
      ["Organization", `${name} (${slug})`],
      ["Id", id],
      ["Subscription", subscriptionTier],
    ]),
  };
}

export const createOrgCommand = defineCommand({
  name: "org create",
  about: "Makes an organization without members.",
  flags: {
    slug: { placeholder: "S", required: true, about: "lower case, unique among organizations and usernames" },
    name: { placeholder: "N", required: true, about: "name to show" },
    tier: { words: SUBSCRIPTION_TIERS, about: "subscription, free unless given" },
  },
  async run({ sql }, { slug, name, tier }) {
    if (!isAccountSlug(slug)) {
      throw new UsageError(
        "Flag --slug must be 1 to 63 of a-z, 0-9, dot, underscore and hyphen, starting with a letter or digit",
      );
    }
    if (name.length > 200) throw new UsageError("Flag --name must have at most 200 characters");
    return present(await sql.begin((tx) => createOrg(tx, { slug, name, subscriptionTier: tier ?? "free" })));
  },
});

export const setOrgTierCommand = defineCommand({
  name: "org set-tier",
  about: "Moves an organization to another subscription.",
  flags: {
    org: { placeholder: "S", required: true, about: "slug of the organization" },
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
          subjectType: "organization",
          subjectId: org.id,
          orgId: org.id,
          details: { from: before.subscriptionTier, to: tier },
        });
        return org;
      }),
    );
  },
});
