/** Members and invitations on their pages, without JavaScript. */
import { expect, test } from "bun:test";
import { makeInvitation } from "../../../helpers/accounts/organization.ts";
import { formTokenIn, noticeAfter, openPage, sendForm } from "../../../helpers/pages/forms.ts";
import {
  hiddenFields,
  openPageScene,
  type PageScene,
  readPage,
  requireEscaped,
  submitForm,
  type Visitor,
} from "../../../helpers/pages/page_scene.ts";

const membersPath = ({ org }: PageScene) => `/orgs/${org.slug}/members`;
const memberPath = (scene: PageScene, { user }: Visitor) => `${membersPath(scene)}/${user.id}`;

function invite(scene: PageScene, by: Visitor, fields: { email: string; role: string }): Promise<Response> {
  return submitForm(scene.api, membersPath(scene), { token: by.token, heading: "invite-title", fields });
}

async function rolesOf({ api, org }: PageScene): Promise<Record<string, string>> {
  const rows = await api.db.sql<{ userId: string; role: string }[]>`
    select user_id, role from organization_members where org_id = ${org.id}`;
  return Object.fromEntries(rows.map(({ userId, role }) => [userId, role]));
}

test("an owner sends an invitation, sends it again and revokes it", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const path = membersPath(scene);
  expect(await readPage(api, path, owner.token)).toContain("You are the only member.");
  const sent = await invite(scene, owner, { email: " Ann@Example.com ", role: "admin" });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, path]);
  expect(await noticeAfter(api, sent, owner.token)).toStartWith("Invitation created.");
  const page = await readPage(api, path, owner.token);
  expect(page).toContain("ann@example.com");
  expect(page).not.toContain("You are the only member.");

  const again = hiddenFields(page, "invitations-title");
  expect(again).toMatchObject({ email: "ann@example.com", role: "admin" });
  const repeated = await sendForm(api, path, again, { token: owner.token, formToken: formTokenIn(page) });
  expect(repeated.status).toBe(303);
  const rows = await api.db.sql`select from organization_invitations where revoked_at is null`;
  expect(rows).toHaveLength(1);

  const [, id = ""] = /name="revoke" value="([^"]+)"/.exec(await readPage(api, path, owner.token)) ?? [];
  const revoked = await sendForm(api, path, { revoke: id }, { token: owner.token });
  expect(await noticeAfter(api, revoked, owner.token)).toStartWith("Invitation revoked.");
  expect(await readPage(api, path, owner.token)).toContain("No pending invitations.");
});

test("a form that is sent twice creates one invitation", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const path = membersPath(scene);
  const hidden = hiddenFields(await readPage(api, path, owner.token), "invite-title");
  const fields = { ...hidden, email: "ann@example.com", role: "viewer" };
  for (const _ of [1, 2])
    expect((await sendForm(api, path, fields, { token: owner.token })).status).toBe(303);
  expect(await api.db.sql`select from organization_invitations`).toHaveLength(1);
});

test("an invalid form is shown again with the input", async () => {
  await using scene = await openPageScene();
  const { owner } = scene;
  const response = await invite(scene, owner, { email: `ann"><script>`, role: "publisher" });
  const page = requireEscaped(await response.text());
  expect(response.status).toBe(400);
  expect(page).toContain("Must be an email address");
  expect(page).toContain('value="ann&quot;&gt;&lt;script&gt;"');
  expect(page).toContain('name="role" value="publisher" checked>');
});

test("owners who invite themselves get an error saying that invitations do not change roles", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const email = owner.user.email.toUpperCase();
  const response = await invite(scene, owner, { email, role: "viewer" });
  const page = await response.text();
  expect([response.status, page.includes('id="field-email-error">Is your own')]).toEqual([400, true]);
  expect(page).toContain("Inviting a member does not change their role.");
  expect(await api.db.sql`select from organization_invitations`).toHaveLength(0);
});

test("an unknown role is reported at the role choices", async () => {
  await using scene = await openPageScene();
  const response = await invite(scene, scene.owner, { email: "ann@example.com", role: "king" });
  const page = await response.text();
  expect(response.status).toBe(400);
  expect(page).toContain(
    'name="role" value="viewer" aria-invalid="true" aria-describedby="field-role-error">',
  );
  expect(page).toContain('<p class="field-error" id="field-role-error">');
});

test("admins cannot choose the owner role, and publishers see no invitations or forms but can leave", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const [admin, publisher] = [await scene.visitor("admin"), await scene.visitor("publisher")];
  await makeInvitation(api, { orgId: org.id, email: "ann@example.com", invitedBy: owner.user.id });
  const ofAdmin = await readPage(api, membersPath(scene), admin.token);
  expect(ofAdmin).toContain("ann@example.com");
  expect(ofAdmin).toContain('name="role" value="admin">');
  expect(ofAdmin).not.toContain('name="role" value="owner">');
  const ofPublisher = await readPage(api, membersPath(scene), publisher.token);
  expect(ofPublisher).not.toContain("ann@example.com");
  expect(ofPublisher).not.toContain("invite-title");
  expect(ofPublisher).toContain(`href="${memberPath(scene, publisher)}/remove"`);
  expect(ofPublisher).not.toContain(memberPath(scene, admin));
  const aboutSelf = await readPage(api, memberPath(scene, publisher), publisher.token);
  expect(aboutSelf).toContain("The role is publisher. Only an owner or admin can change it.");
  const aboutOwner = await readPage(api, memberPath(scene, owner), publisher.token);
  expect(aboutOwner).toContain("The role is owner. Only an owner can change it.");
  const left = await submitForm(api, `${memberPath(scene, publisher)}/remove`, {
    token: publisher.token,
    heading: "<h1>",
    fields: {},
  });
  expect([left.status, left.headers.get("location")]).toEqual([303, `/orgs/${org.slug}`]);
  expect(await noticeAfter(api, left, publisher.token)).toBe("You have left this organization.");
  expect(Object.keys(await rolesOf(scene))).not.toContain(publisher.user.id);
});

test("admins see an owner's invitation, but no buttons for it", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const admin = await scene.visitor("admin");
  const invitedBy = owner.user.id;
  const ids: Record<string, string> = {};
  for (const role of ["owner", "admin"] as const)
    ids[role] = (
      await makeInvitation(api, { orgId: org.id, email: `${role}@example.com`, role, invitedBy })
    ).id;
  const shown = async ({ token }: Visitor) => {
    const page = await readPage(api, membersPath(scene), token);
    expect(page).toContain("owner@example.com");
    return [...page.matchAll(/name="revoke" value="([^"]+)"|to (\w+)@example.com<\/span>/g)]
      .map(([, id, role]) => id ?? ids[role ?? ""])
      .toSorted();
  };
  expect(await shown(admin)).toEqual([ids["admin"], ids["admin"]]);
  expect(new Set(await shown(owner))).toEqual(new Set(Object.values(ids)));
});

test("the owner of a personal organization cannot choose another role or leave", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const path = `/orgs/${owner.user.username}/members/${owner.user.id}`;
  const page = await readPage(api, path, owner.token);
  expect(page).toContain("The owner of a personal organization can neither leave nor get another role.");
  for (const offered of ["Save role", "Leave organization", `${path}/remove`])
    expect(page).not.toContain(offered);
});

test("an owner changes a role and removes the member after a confirmation", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const bob = await scene.visitor("viewer");
  const path = memberPath(scene, bob);
  expect(await readPage(api, path, owner.token)).toContain('name="role" value="viewer" checked>');
  const saved = await submitForm(api, path, {
    token: owner.token,
    heading: "member-title",
    fields: { role: "admin" },
  });
  expect(await noticeAfter(api, saved, owner.token)).toBe("Role changed.");
  expect((await rolesOf(scene))[bob.user.id]).toBe("admin");
  // Opening the confirmation page changes nothing.
  const question = await readPage(api, `${path}/remove`, owner.token);
  expect(question).toContain(`Remove ${bob.user.username} from`);
  expect((await rolesOf(scene))[bob.user.id]).toBe("admin");
  const removed = await submitForm(api, `${path}/remove`, {
    token: owner.token,
    heading: "<h1>",
    fields: {},
  });
  expect(await noticeAfter(api, removed, owner.token)).toBe("Member removed.");
  expect((await rolesOf(scene))[bob.user.id]).toBeUndefined();
  expect((await openPage(api, membersPath(scene), bob.token)).status).toBe(403);
  expect((await openPage(api, path, owner.token)).status).toBe(404);
});

test("the last owner can neither leave nor get another role, and the error says why", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const path = memberPath(scene, owner);
  const fields = { role: "viewer" };
  const saved = await submitForm(api, path, { token: owner.token, heading: "member-title", fields });
  const left = await submitForm(api, `${path}/remove`, { token: owner.token, heading: "<h1>", fields: {} });
  for (const response of [saved, left]) {
    expect(response.status).toBe(409);
    expect(requireEscaped(await response.text())).toContain(
      "has no other owner. Make another member an owner first.",
    );
  }
});
