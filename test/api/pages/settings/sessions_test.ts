/** Sessions on their page, without JavaScript. */
import { expect, test } from "bun:test";
import { noticeAfter, openPage, sendForm } from "../../../helpers/pages/forms.ts";
import { HOSTILE, openPageScene, readPage, submitForm } from "../../../helpers/pages/page_scene.ts";

const PATH = "/settings/sessions";

/** Returns the text of each table row, without HTML tags. */
function rows(page: string): string[] {
  const [, body = ""] = /<tbody>(.*)<\/tbody>/s.exec(page) ?? [];
  return body.split("</tr>").map((row) =>
    row
      .replaceAll(/<[^>]*>|\s+/g, " ")
      .replaceAll(/ +/g, " ")
      .trim(),
  );
}

test("sessions show device and address, the current session is marked, and hostile user agents are escaped", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const userAgent = `Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0 ${HOSTILE}`;
  const other = await api.make.session({ userId: owner.user.id, address: "192.0.2.14", userAgent });
  const page = await readPage(api, PATH, owner.token);
  const [newest, current] = rows(page);
  expect(newest).toStartWith("Firefox on Linux User agent Mozilla/5.0");
  expect(newest).toContain("192.0.2.14");
  expect(current).toStartWith("Unknown device This session");
  expect(page.split(`/end"`)).toHaveLength(2);
  expect(page).toContain(`href="${PATH}/${other.id}/end"`);
});

test("a session ends once the user confirms", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const other = await api.make.session({ userId: owner.user.id });
  const path = `${PATH}/${other.id}/end`;
  const sent = await submitForm(api, path, { token: owner.token, fields: {}, heading: "End this" });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, PATH]);
  expect((await openPage(api, PATH, other.token)).status).toBe(303);
  expect(await noticeAfter(api, sent, owner.token)).toBe("Session ended.");
});

test("ending the current session signs the user out, like the sign-out button", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const [own] = await api.db.sql<[{ id: string }]>`select id from sessions where user_id = ${owner.user.id}`;
  const path = `${PATH}/${own.id}/end`;
  expect(await readPage(api, path, owner.token)).toContain('value="sign-out">End session</button>');
  const sent = await submitForm(api, path, { token: owner.token, fields: {}, heading: "End this" });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, "/dashboard/sign-in"]);
  expect(sent.headers.get("clear-site-data")).toBe('"cache", "storage"');
  const cleared = sent.headers.getSetCookie().map((cookie) => cookie.slice(0, cookie.indexOf(";")));
  expect(cleared).toEqual(["ulr_session=", "ulr_org="]);
});

test("all of the user's other sessions end, and the current session stays", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const others = [
    await api.make.session({ userId: owner.user.id }),
    await api.make.session({ userId: owner.user.id }),
  ];
  const stranger = await scene.visitor("outsider");
  const path = `${PATH}/end-others`;
  const sent = await submitForm(api, path, { token: owner.token, fields: {}, heading: "End all" });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, PATH]);
  for (const { token } of others) expect((await openPage(api, PATH, token)).status).toBe(303);
  expect((await openPage(api, PATH, owner.token)).status).toBe(200);
  expect((await openPage(api, PATH, stranger.token)).status).toBe(200);
});

test("another user's session is indistinguishable from a missing session", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const stranger = await scene.visitor("outsider");
  const [foreign] = await api.db.sql<
    [{ id: string }]
  >`select id from sessions where user_id = ${stranger.user.id}`;
  for (const id of [foreign.id, crypto.randomUUID(), "x"]) {
    const path = `${PATH}/${id}/end`;
    expect((await openPage(api, path, owner.token)).status).toBe(404);
    expect((await sendForm(api, path, {}, { token: owner.token })).status).toBe(404);
  }
  expect((await openPage(api, PATH, stranger.token)).status).toBe(200);
});
