/** Sentences that say what an organization needs for exports. */
import { orgPath } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import type { PageOrg } from "../page_session.ts";

export function needsRole({ role, name }: PageOrg): string {
  return `You need the publisher role to export this organization. Your role: ${role}. An owner or admin of ${name} can change it.`;
}

/** Returns the required tier as a sentence. `what` is its beginning: "Exports require". */
export function needsTier(what: string, { name, subscriptionTier }: PageOrg): string {
  return `${what} a paid subscription. ${name} is on the ${subscriptionTier} tier. Your operator can change it.`;
}

/** Like `needsTier`, with a link to the features of a subscription. */
export function tierNote(what: string, org: PageOrg): Html {
  return html`${needsTier(what, org)} <a href="${orgPath(org.slug, "usage")}#subscription">What a subscription includes</a>`;
}
