/** Webhooks on their pages, without JavaScript. */
import { expect, test } from "bun:test";
import { noticeAfter, openPage, sendForm } from "../../../helpers/pages/forms.ts";
import {
  hiddenFields,
  openPageScene,
  type PageScene,
  readPage,
  submitForm,
} from "../../../helpers/pages/page_scene.ts";

const URL_OF_HOOK = "https://ci.example.com/hook?a=1&b=2";

/** Sends the form for a new webhook. */
async function create(
  { api, org, owner }: PageScene,
  fields: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const path = `/orgs/${org.slug}/webhooks`;
  const given = { url: URL_OF_HOOK, types: "export.ready", ...fields };
  return submitForm(api, path, { token: owner.token, heading: "new-webhook-title", fields: given });
}

async function openWebhook() {
  const scene = await openPageScene();
  const page = await (await create(scene)).text();
  const [, path = ""] = /href="(\/orgs\/[^"]+\/webhooks\/[0-9a-f-]{36})"/.exec(page) ?? [];
  const read = (query = "") => readPage(scene.api, path + query, scene.owner.token);
  const press = async (action: string) => {
    const fields = { ...hiddenFields(await read(), "webhook-title"), action };
    return sendForm(scene.api, path, fields, { token: scene.owner.token });
  };
  return { scene, path, read, press, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

test("a new webhook shows its secret once, in the response to its form", async () => {
  await using scene = await openPageScene();
  const created = await create(scene);
  const page = await created.text();
  const [secret = ""] = /whsec_[A-Za-z0-9+/]{32}/.exec(page) ?? [];
  expect([created.status, created.headers.get("cache-control"), secret.length]).toEqual([
    201,
    "private, no-store",
    38,
  ]);
  expect(page).toContain(`data-copies="secret"`);
  expect(await readPage(scene.api, `/orgs/${scene.org.slug}/webhooks`, scene.owner.token)).not.toContain(
    secret,
  );
  expect(JSON.stringify(scene.api.logLines)).not.toContain(secret);
});

test("reloading the response does not create a second webhook", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const path = `/orgs/${org.slug}/webhooks`;
  const hidden = hiddenFields(await readPage(api, path, owner.token), "new-webhook-title");
  const fields = { ...hidden, url: URL_OF_HOOK, types: "export.ready" };
  expect((await sendForm(api, path, fields, { token: owner.token })).status).toBe(201);
  const again = await sendForm(api, path, fields, { token: owner.token });
  expect([again.status, (await again.text()).includes("whsec_")]).toEqual([409, false]);
  expect(await api.db.sql`select id from webhooks`).toHaveLength(1);
});

test.each([
  ["javascript:alert(1)", 400],
  ["http://ci.example.com/", 422],
  ["https://127.0.0.1/", 422],
])("the address %s is refused at its field with %i, and the input is kept", async (url, status) => {
  await using scene = await openPageScene();
  const sent = await create(scene, { url });
  const page = await sent.text();
  expect(sent.status).toBe(status);
  expect(page).toContain(`id="field-url-error"`);
  expect(page).toContain(`value="${url}"`);
  expect(page).toMatch(/value="export.ready" checked> <span>export.ready <small>[^<]+\.<\/small>/);
});

test("a webhook without events is refused", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const path = `/orgs/${org.slug}/webhooks`;
  const hidden = hiddenFields(await readPage(api, path, owner.token), "new-webhook-title");
  const sent = await sendForm(api, path, { ...hidden, url: URL_OF_HOOK }, { token: owner.token });
  expect([sent.status, (await sent.text()).includes("Choose at least one event.")]).toEqual([400, true]);
});

test("a webhook can be tested, paused and enabled", async () => {
  await using hook = await openWebhook();
  const { scene, path, read, press } = hook;
  const tested = await press("test");
  expect([tested.status, tested.headers.get("location")]).toEqual([303, path]);
  expect(await noticeAfter(scene.api, tested, scene.owner.token)).toStartWith("Test event queued.");
  // The notice is shown once. A reload does not repeat it.
  expect(await read()).not.toContain("Test event queued.");
  expect(await read()).toMatch(/webhook\.test.*pending/s);
  expect(await noticeAfter(scene.api, await press("pause"), scene.owner.token)).toStartWith(
    "Webhook paused.",
  );
  const paused = await read();
  expect(paused).toContain("Paused");
  expect(paused).not.toContain(`value="test"`);
  const refused = await press("test");
  expect([refused.status, (await refused.text()).includes("The webhook is disabled.")]).toEqual([400, true]);
  expect(await noticeAfter(scene.api, await press("enable"), scene.owner.token)).toStartWith(
    "Webhook enabled.",
  );
  expect(await read()).toContain("Enabled");
});

test("the secret can be replaced, and the new secret is shown once", async () => {
  await using hook = await openWebhook();
  const { scene, path, read } = hook;
  const fields = { ...hiddenFields(await read(), "webhook-title"), action: "rotate" };
  const send = () => sendForm(scene.api, path, fields, { token: scene.owner.token });
  const rotated = await send();
  const page = await rotated.text();
  const [row] = await scene.api.db.sql`select secret from webhooks`;
  expect([rotated.status, rotated.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
  expect(page).toContain(String(row?.["secret"]));
  expect(page).toContain(`data-copies="secret"`);
  expect(page).toContain("Secret replaced");
  expect(await read()).not.toContain("whsec_");
  const again = await send();
  expect([again.status, (await again.text()).includes("whsec_")]).toEqual([409, false]);
  expect(await scene.api.db.sql`select from webhook_retired_secrets`).toHaveLength(1);
});

test("the address and events can be changed, and rejected input is kept", async () => {
  await using hook = await openWebhook();
  const { scene, path, read } = hook;
  const send = (url: string) =>
    submitForm(scene.api, path, {
      token: scene.owner.token,
      heading: "edit-title",
      fields: { url, types: "model.added" },
    });
  expect((await send("https://other.example/")).headers.get("location")).toBe(path);
  expect(await read()).toMatch(/value="https:\/\/other\.example\/".*value="model\.added" checked/s);
  const refused = await send("https://10.0.0.1/");
  expect([refused.status, (await refused.text()).includes(`value="https://10.0.0.1/"`)]).toEqual([422, true]);
  expect(await read()).toContain(`value="https://other.example/"`);
});

test("deleting a webhook requires a confirmation", async () => {
  await using hook = await openWebhook();
  const { scene, path, read } = hook;
  const { api, org, owner } = scene;
  expect(await read("/delete")).toContain("Delete this webhook?");
  const sent = await submitForm(api, `${path}/delete`, {
    token: owner.token,
    heading: "Delete this",
    fields: {},
  });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, `/orgs/${org.slug}/webhooks`]);
  expect((await openPage(api, path, owner.token)).status).toBe(404);
  expect(await noticeAfter(api, sent, owner.token)).toBe("Webhook deleted.");
});

test("a failed delivery is shown before newer pending deliveries", async () => {
  await using hook = await openWebhook();
  const { sql } = hook.scene.api.db;
  await sql`
    insert into webhook_deliveries (webhook_id, event_id, type, payload, attempts, error)
    select w.id, gen_random_uuid(), 'export.ready', '{}', d.attempts, d.error
    from webhooks as w
    cross join (values (1, 'the receiver responded with status 503'), (0, null)) as d (attempts, error)`;
  const rows = (await hook.read()).match(/(?<="Attempts">)\d/g);
  expect(rows).toEqual(["1", "0"]);
});
