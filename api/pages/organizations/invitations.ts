/** The pending invitations on the page of the members. */
import type { OrgRole } from "../../../shared/vocabulary.ts";
import { type FormSession, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { renderInstant } from "../instant.ts";
import { onceField } from "../write_once.ts";

export interface PendingInvitation {
  id: string;
  email: string;
  role: OrgRole;
  invitedBy: string;
  expiresAt: string;
}

/** Renders the table, with a button to send each one again and one to revoke it. */
export function renderInvitations(session: FormSession, invitations: readonly PendingInvitation[]): Html {
  return html`<section class="stack" aria-labelledby="invitations-title">
  <h2 id="invitations-title">Pending invitations <small>${invitations.length.toLocaleString("en-US")}</small></h2>
  ${invitations.length === 0 ? html`<p class="empty">No pending invitations.</p>` : renderTable(session, invitations)}
</section>`;
}

function renderTable(session: FormSession, invitations: readonly PendingInvitation[]): Html {
  const rows = invitations.map(
    ({ id, email, role, invitedBy, expiresAt }) => html`<tr>
  <th scope="row">${email}<div class="actions">
    <form method="post">${tokenField(session)}${onceField()}<input type="hidden" name="email" value="${email}"><input type="hidden" name="role" value="${role}"><button type="submit">Send again<span class="visually-hidden"> to ${email}</span></button></form>
    <form method="post">${tokenField(session)}<button type="submit" name="revoke" value="${id}" class="danger">Revoke<span class="visually-hidden"> the invitation of ${email}</span></button></form>
  </div></th>
  <td>${role}</td><td>${invitedBy}</td><td>${renderInstant(expiresAt)}</td>
</tr>
`,
  );
  return html`<div class="table-box" tabindex="0" role="group" aria-label="Pending invitations"><table class="data-table">
<thead><tr><th scope="col">Email</th><th scope="col">Role</th><th scope="col">Invited by</th><th scope="col">Expires</th></tr></thead>
<tbody>
${rows}</tbody></table></div>`;
}
