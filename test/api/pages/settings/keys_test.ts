/** API keys on their page, without JavaScript. */
import { expect, test } from "bun:test";
import { auditRows } from "../../../helpers/accounts/accounts.ts";
import { noticeAfter, openPage, sendForm } from "../../../helpers/pages/forms.ts";
import {
  HOSTILE,
  hiddenFields,
  openPageScene,
  type PageScene,
  readPage,
  requireEscaped,
  submitForm,
} from "../../../helpers/pages/page_scene.ts";

const PATH = "/settings/keys";

/** Opens the page and returns the hidden fields of its form. */
async function openForm({ api, owner }: PageScene): Promise<Record<string, string>> {
  return hiddenFields(await readPage(api, PATH, owner.token), "new-key-title");
}

async function countKeys({ api }: PageScene): Promise<number> {
  const [row] = await api.db.sql<[{ count: number }]>`
    select count(*)::int as count from api_keys where name is not null`;
  return row.count;
}

test("a new key works and is shown only once, in the response to the form", async () => {
  await using scene = await openPageScene();
  const { api, owner, org } = scene;
  const fields = { name: HOSTILE, organization: org.slug, scope: "read", expiresAt: "2999-12-31" };
  const created = await submitForm(api, PATH, { token: owner.token, fields, heading: "new-key-title" });
  expect([created.status, created.headers.get("cache-control")]).toEqual([201, "private, no-store"]);
  const page = requireEscaped(await created.text());
  const [key = ""] = /ulr_[A-Za-z0-9_-]{40,}/.exec(page) ?? [];
  const me = await api.request("/api/v1/auth/me", { key });
  expect(await me.json()).toMatchObject({
    data: {
      organizations: [{ slug: org.slug }],
      credential: { scope: "read", expiresAt: "2999-12-31T23:59:59.000Z" },
    },
  });
  expect(await readPage(api, PATH, owner.token)).not.toContain(key);
  expect(JSON.stringify(api.logLines)).not.toContain(key);
});

test("the page with the new key is not stored, even if the client sends an Idempotency-Key", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const fields = { ...(await openForm(scene)), name: "Nightly" };
  const headers = { "idempotency-key": "page" };
  const created = await sendForm(api, PATH, fields, { token: owner.token, headers });
  const [key] = /ulr_[A-Za-z0-9_-]{40,}/.exec(await created.text()) ?? [];
  const kept = await api.db.sql<{ text: string }[]>`select k::text as text from idempotency_keys as k`;
  expect([created.status, kept.length]).toEqual([201, 1]);
  expect(kept.filter(({ text }) => text.includes(key ?? "") || text.includes("<html"))).toEqual([]);
});

test("reloading the response creates no second key and explains why no key is shown", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const fields = { ...(await openForm(scene)), name: "Nightly" };
  const send = () => sendForm(api, PATH, fields, { token: owner.token });
  expect((await send()).status).toBe(201);
  const again = await send();
  const page = await again.text();
  expect(again.status).toBe(409);
  expect(page).toContain("It cannot be shown again.");
  expect(page).not.toMatch(/ulr_[A-Za-z0-9_-]{40,}/);
  expect(await countKeys(scene)).toBe(1);
});

test("a form with an invalid request id creates nothing, and a form without an id counts as a new request", async () => {
  await using scene = await openPageScene();
  const { request_id: _, ...fields } = await openForm(scene);
  const { form_token: formToken = "" } = fields;
  const send = (id: object) =>
    sendForm(scene.api, PATH, { ...fields, ...id, name: "Nightly" }, { token: scene.owner.token, formToken });
  for (const id of ["a\nb", "\u65e5"]) expect((await send({ request_id: id })).status).toBe(400);
  expect(await countKeys(scene)).toBe(0);
  await send({});
  expect(await countKeys(scene)).toBe(1);
});

test("an error of the API is shown with all input, and the corrected form can be sent", async () => {
  await using scene = await openPageScene();
  const { api, owner, org } = scene;
  const fields = { name: "Nightly", organization: org.slug, scope: "write", expiresAt: "2001-01-01" };
  const sent = await submitForm(api, PATH, { token: owner.token, fields, heading: "new-key-title" });
  const page = requireEscaped(await sent.text());
  expect(sent.status).toBe(400);
  expect(page).toContain(`id="field-expiresAt-error">Must be in the future</p>`);
  expect(page).toContain(`type="date" value="2001-01-01"`);
  expect(page).toContain(`<option value="${org.slug}" selected>`);
  expect(page).toMatch(/value="write" checked/);
  const mended = { ...hiddenFields(page, "new-key-title"), ...fields, expiresAt: "" };
  expect((await sendForm(api, PATH, mended, { token: owner.token })).status).toBe(201);
});

test("revoking a key requires a confirmation", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const { id, key } = await api.make.key({ userId: owner.user.id, name: HOSTILE });
  const revoke = `${PATH}/${id}/revoke`;
  const list = await readPage(api, PATH, owner.token);
  expect(list).toContain(`href="${revoke}"`);
  // A name is required, because it would be hard to tell later what an unnamed key is for.
  expect(list).toMatch(/name="name"[^>]* required/);
  expect(await readPage(api, revoke, owner.token)).toContain("Revoke this API key?");
  expect((await api.request("/api/v1/auth/me", { key })).status).toBe(200);
  const sent = await submitForm(api, revoke, { token: owner.token, fields: {}, heading: "Revoke this" });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, PATH]);
  expect((await api.request("/api/v1/auth/me", { key })).status).toBe(401);
  expect(await noticeAfter(api, sent, owner.token)).toBe("API key revoked.");
  const after = await readPage(api, PATH, owner.token);
  expect(after).not.toContain(id);
  const again = await sendForm(api, revoke, {}, { token: owner.token });
  expect([again.status, await again.text()]).toEqual([
    404,
    expect.stringContaining("already have been removed"),
  ]);
});

test("another user's key is indistinguishable from a missing key", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const outsider = await scene.visitor("outsider");
  const foreign = await api.make.key({ userId: outsider.user.id });
  for (const id of [foreign.id, crypto.randomUUID(), "x"]) {
    const path = `${PATH}/${id}/revoke`;
    expect((await openPage(api, path, owner.token)).status).toBe(404);
    expect((await sendForm(api, path, {}, { token: owner.token })).status).toBe(404);
  }
  expect((await auditRows(api)).map(({ action }) => action)).not.toContain("key.revoke");
});

test("an expired key is marked, and a key without an expiry shows Never", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  await api.make.key({ userId: owner.user.id, name: "Old", expiresAt: "2026-01-02T00:00:00.000Z" });
  await api.make.key({ userId: owner.user.id, name: "Current" });
  const list = await readPage(api, PATH, owner.token);
  expect(list).toContain(`<span class="badge bad">Expired</span> <time datetime="2026-01-02`);
  // The key named Current was never used and never expires.
  expect(list).toContain(`<td data-label="Last used">Never</td>\n<td data-label="Expires">Never</td>`);
});
