/** /orgs/{slug}/members: who belongs to an organization, for its members. */
import type { MemberList } from "../../accounts/organizations/schemas.ts";
import { orgPath } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import { renderDay } from "../instant.ts";
import type { PageResult, SignedInPage } from "../page.ts";
import { findOwnOrg } from "../page_session.ts";
import { orgPage } from "./org_page.ts";

type Members = (typeof MemberList.static)["data"]["members"];

export async function showMembers(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const { data } = await page.api<typeof MemberList.static>(orgPath(slug, "members"));
  return orgPage(page, {
    slug,
    name: findOwnOrg(page, slug)?.name ?? slug,
    tab: "members",
    body: renderMembers(data.members),
  });
}

/** Renders the table of members. Avatars are not loaded: they are addresses of strangers. */
function renderMembers(members: Members): Html {
  const rows = members.map(
    ({ username, name, role, joinedAt }) => html`<tr>
  <th scope="row">${name ?? username}</th><td>${username}</td><td>${role}</td><td>${renderDay(joinedAt)}</td>
</tr>
`,
  );
  return html`<section class="stack" aria-labelledby="members-title">
  <h2 id="members-title">Members <small>${members.length.toLocaleString("en-US")}</small></h2>
  <div class="table-box" tabindex="0" role="group" aria-label="Members"><table class="data-table">
<thead><tr><th scope="col">Name</th><th scope="col">Username</th><th scope="col">Role</th><th scope="col">Joined</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
</section>`;
}
