/** The page that the link of an invitation opens. */
import { expect, test } from "bun:test";
import { makeInvitation } from "../../../helpers/accounts/organization.ts";
import { formTokenIn, noticeAfter, openPage, sendForm } from "../../../helpers/pages/forms.ts";
import {
  openPageScene,
  type PageScene,
  requireEscaped,
  type Visitor,
} from "../../../helpers/pages/page_scene.ts";

async function openInvitation(scene: PageScene) {
  const ann = await scene.visitor("outsider");
  const { org, owner, api } = scene;
  const made = { orgId: org.id, email: ann.user.email, role: "publisher", invitedBy: owner.user.id } as const;
  const { token } = await makeInvitation(api, made);
  return { ann, path: `/invitation?token=${token}`, token };
}

async function read({ api }: PageScene, path: string, visitor?: Visitor) {
  const response = await openPage(api, path, visitor?.token);
  return { response, page: requireEscaped(await response.text()) };
}

async function countMembers({ api, org }: PageScene): Promise<number> {
  return (await api.db.sql`select from organization_members where org_id = ${org.id}`).length;
}

test("a visitor can read the invitation and then sign in or sign up and return to the invitation", async () => {
  await using scene = await openPageScene();
  const { ann, path, token } = await openInvitation(scene);
  const { page, response } = await read(scene, path);
  expect(response.status).toBe(200);
  expect(page).toContain(scene.owner.user.username);
  expect(page).toContain(ann.user.email);
  const next = encodeURIComponent(path);
  expect(page).toContain(`href="/dashboard/sign-in?next=${next}"`);
  expect(page).toContain(`href="/sign-up?next=${next}"`);
  for (const address of [path, `/dashboard/sign-in?next=${next}`, `/sign-up?next=${next}`]) {
    const { headers } = await openPage(scene.api, address);
    expect([headers.get("cache-control"), headers.get("referrer-policy"), headers.get("etag")]).toEqual([
      "private, no-store",
      "strict-origin",
      null,
    ]);
  }
  expect(JSON.stringify(scene.api.logLines)).not.toContain(token);
});

test("the invitation says whom to ask for an account if sign-up is off", async () => {
  await using scene = await openPageScene();
  const { path } = await openInvitation(scene);
  Object.assign(scene.api.deps.config, { signUp: "off" });
  const { page } = await read(scene, path);
  expect(page).toContain("If you have no account, ask an operator for one.");
  expect(page).toContain(`href="/dashboard/sign-in?next=${encodeURIComponent(path)}"`);
  expect(page).not.toContain("/sign-up");
  expect(page).not.toContain("sign up");
});

test("opening the link repeatedly, as mail scanners do, changes nothing", async () => {
  await using scene = await openPageScene();
  const { ann, path } = await openInvitation(scene);
  for (const visitor of [undefined, ann, scene.owner]) {
    for (const _ of [1, 2, 3]) await read(scene, path, visitor);
    expect((await scene.api.request(path, { method: "HEAD" })).status).toBe(200);
  }
  expect(await countMembers(scene)).toBe(1);
  const { page } = await read(scene, path, ann);
  const joined = await sendForm(scene.api, path, {}, { token: ann.token, formToken: formTokenIn(page) });
  expect([joined.status, joined.headers.get("location")]).toEqual([303, `/orgs/${scene.org.slug}`]);
  expect(await noticeAfter(scene.api, joined, ann.token)).toBe("You are now a member.");
  expect(await countMembers(scene)).toBe(2);
});

test("an account with another address sees the invited address and can sign out to continue", async () => {
  await using scene = await openPageScene();
  const { ann, path } = await openInvitation(scene);
  const mallory = await scene.visitor("outsider");
  const { page, response } = await read(scene, path, mallory);
  expect(response.status).toBe(403);
  expect(page).toContain(`It is for ${ann.user.email}.`);
  expect(page).not.toContain(scene.org.slug);
  const refused = await sendForm(scene.api, path, {}, { token: mallory.token });
  expect(refused.status).toBe(403);
  const out = await sendForm(scene.api, path, { action: "sign-out" }, { token: mallory.token });
  expect([out.status, out.headers.get("location")]).toEqual([303, path]);
  const cookies = out.headers.getSetCookie().join();
  for (const cleared of ["ulr_session=;", "ulr_org=;"]) expect(cookies).toContain(cleared);
  expect(out.headers.get("clear-site-data")).toContain('"storage"');
  expect((await read(scene, path)).page).toContain("Sign in with this address, or sign up");
});

test("all invalid links show the same page to all visitors", async () => {
  await using scene = await openPageScene();
  const { ann, path } = await openInvitation(scene);
  await sendForm(scene.api, path, {}, { token: ann.token });
  for (const [address, visitor] of [
    [path, undefined],
    [path, ann],
    [path, scene.owner],
    ["/invitation?token=x", ann],
    ["/invitation", undefined],
    [`/invitation?token=${"x".repeat(300)}`, ann],
  ] as const) {
    const { page, response } = await read(scene, address, visitor);
    expect([address, response.status]).toEqual([address, 400]);
    expect(page).toContain("This invitation no longer works");
  }
  const again = await sendForm(scene.api, path, {}, { token: ann.token });
  expect([again.status, await again.text()]).toEqual([400, expect.stringContaining("no longer works")]);
});

test("a form whose session has ended leads through the sign-in page back to the invitation", async () => {
  await using scene = await openPageScene();
  const { path } = await openInvitation(scene);
  const response = await sendForm(scene.api, path, {});
  expect(response.status).toBe(303);
  const next = new URL(response.headers.get("location") ?? "", "http://localhost").searchParams.get("next");
  expect(next).toBe(path);
});
