import { expect, test } from "bun:test";
import { noticeAfter, openPage } from "../../../helpers/pages/forms.ts";
import { openPageScene, readPage, submitForm } from "../../../helpers/pages/page_scene.ts";

const heading = "end-title";

test("the owner types the slug to delete, every member sees the deletion date, and the owner can restore", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const { token } = owner;
  const path = `/orgs/${org.slug}/end`;
  const viewer = await scene.visitor("viewer");
  expect(await readPage(api, `/orgs/${org.slug}/edit`, token)).toContain(`href="${path}"`);
  const wrong = await submitForm(api, path, { token, heading, fields: { confirm: "other" } });
  const refused = await wrong.text();
  expect([wrong.status, refused.includes(`s slug, ${org.slug}`)]).toEqual([400, true]);
  const sent = await submitForm(api, path, { token, heading, fields: { confirm: ` ${org.slug} ` } });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, path]);
  expect(await noticeAfter(api, sent, token)).toStartWith(
    "Deletion scheduled. The organization keeps working for seven days",
  );
  for (const [tab, whose, text] of [
    ["members", token, `<a href="${path}">Restore it</a>`],
    ["projects", viewer.token, "Any owner can restore it."],
  ] as const) {
    const page = await readPage(api, `/orgs/${org.slug}/${tab}`, whose);
    expect(page).toContain("This organization will be deleted on <time");
    expect(page).toContain(text);
  }
  const back = await submitForm(api, path, { token, heading, fields: {} });
  expect(await noticeAfter(api, back, token)).toBe("Organization restored. Nothing was deleted.");
  expect(await readPage(api, `/orgs/${org.slug}/members`, token)).not.toContain("will be deleted");
});

test("callers other than owners get 403, and a personal organization has no form for deletion", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  for (const role of ["admin", "publisher", "viewer", "outsider"] as const) {
    const { token } = await scene.visitor(role);
    expect((await openPage(api, `/orgs/${org.slug}/end`, token)).status).toBe(403);
  }
  const admin = await scene.visitor("admin");
  expect(await readPage(api, `/orgs/${org.slug}/edit`, admin.token)).not.toContain("/end");
  const personal = `/orgs/${owner.user.username}`;
  expect(await readPage(api, `${personal}/end`, owner.token)).toContain("cannot be deleted");
  expect(await readPage(api, `${personal}/edit`, owner.token)).not.toContain("/end");
});
