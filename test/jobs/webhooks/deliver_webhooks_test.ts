import { expect, test } from "bun:test";
import { openStoreOwner } from "../../../jobs/store_owner.ts";
import { type DeliverDeps, keepWebhooksDelivered } from "../../../jobs/webhooks/deliver_webhooks.ts";
import { sendWebhookDisabled } from "../../../jobs/webhooks/send_webhook_disabled.ts";
import { openArtifactStore } from "../../../shared/artifacts/open_store.ts";
import type { EventType } from "../../../shared/vocabulary.ts";
import { settleEvents } from "../../../sql/events/event_feed.ts";
import { insertExportEvent, insertModelEvents } from "../../../sql/events/events.ts";
import { noteAttempt } from "../../../sql/webhooks/delivery_retries.ts";
import { claimDeliveries, queueDeliveries } from "../../../sql/webhooks/webhook_deliveries.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openWebhookReceiver, type WebhookReceiver } from "../../helpers/network/webhook_receiver.ts";
import { createWebhook, listDeliveries } from "../../helpers/network/webhooks.ts";
import type { Person } from "../../helpers/postgres/factory.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const CONFIG = { webhookAllowedNetworks: "127.0.0.0/8" };
const TYPES: EventType[] = ["export.ready", "model.added"];

async function openPlace() {
  const app = await openTestApp({ config: CONFIG });
  const owner = await app.make.person({ role: "owner" });
  return { app, owner, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const hook = (app: TestApp, owner: Person, receiver: WebhookReceiver, types = TYPES) =>
  createWebhook(app, owner, { receiver, types });

/** Inserts an event about an export job of the owner's organization. Returns the job's id. */
async function addEvent(app: TestApp, owner: Person): Promise<string> {
  const id = crypto.randomUUID();
  await insertExportEvent(app.db.sql, { id, orgId: owner.org.id, status: "ready" });
  return id;
}

/** Makes all pending deliveries due now. */
async function hurry({ db }: TestApp): Promise<void> {
  await db.sql`update webhook_deliveries set next_attempt_at = now() - interval '1 second' where status = 'pending'`;
  await db.sql`update webhooks set due_at = now() - interval '1 second' where due_at is not null`;
}

/** Delivers webhooks as a job runner does, until it is disposed of. */
async function openDeliverer(app: TestApp, more: Partial<DeliverDeps> = {}) {
  const runner = await openTestRunner(app);
  const leave = new AbortController();
  const done = keepWebhooksDelivered({ ...runner.deps, ...more }, leave.signal);
  return {
    runner,
    async [Symbol.asyncDispose]() {
      leave.abort();
      runner.leave();
      await done;
      await runner[Symbol.asyncDispose]();
    },
  };
}

const jobsOf = (receiver: WebhookReceiver) => receiver.received.map(({ event }) => event.data["jobId"]);

test("delivers signed organization and model events once, and no events from other organizations", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  const other = await app.make.person();
  await using receiver = await openWebhookReceiver();
  await addEvent(app, owner);
  await app.request("/api/v1/events");
  const id = await hook(app, owner, receiver);
  await addEvent(app, other);
  const jobId = await addEvent(app, owner);
  await insertModelEvents(app.db.sql, {
    added: [{ provider: "p", modelId: "m" }],
    gone: [{ provider: "p", modelId: "n" }],
    priceChanges: [],
  });
  await using _ = await openDeliverer(app);
  await waitFor(async () =>
    (await listDeliveries(app, owner, id)).every(({ status }) => status === "delivered"),
  );
  await waitFor(() => receiver.received.length >= 2);
  const { data } = (await (await app.request("/api/v1/events", { key: owner.key })).json()) as {
    data: { events: { type: string; data: Record<string, unknown> }[] };
  };
  const expected = data.events.filter(({ type, data }) => data["jobId"] === jobId || type === "model.added");
  expect(receiver.received.map(({ event }) => event)).toEqual(expected as never);
  expect(receiver.forged).toBe(0);
});

test("signs with the old and the new secret for 24 hours after a rotation, then only with the new secret", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using receiver = await openWebhookReceiver();
  const id = await hook(app, owner, receiver);
  const old = receiver.secret;
  const path = `/api/v1/orgs/${owner.org.slug}/webhooks/${id}/rotate`;
  const rotated = await app.request(path, { method: "POST", key: owner.key });
  const { data } = (await rotated.json()) as { data: { secret: string } };
  expect(data.secret).not.toBe(old);
  await using _ = await openDeliverer(app);
  for (const secret of [old, data.secret]) {
    receiver.secret = secret;
    const sent = receiver.received.length;
    await addEvent(app, owner);
    await waitFor(() => receiver.received.length > sent);
  }
  expect(receiver.forged).toBe(0);
  await app.db.sql`update webhook_retired_secrets set expires_at = now() - interval '1 s'`;
  await addEvent(app, owner);
  await waitFor(() => receiver.received.length === 3);
  receiver.secret = old;
  await addEvent(app, owner);
  await waitFor(() => receiver.forged > 0);
  expect(receiver.received).toHaveLength(3);
});

test("resends a delivery under the same id to a receiver that is first down and then responds with an error", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  const id = await (async () => {
    await using receiver = await openWebhookReceiver();
    const created = await hook(app, owner, receiver);
    await addEvent(app, owner);
    return { created, port: Number(new URL(receiver.url).port), secret: receiver.secret };
  })();
  await using _ = await openDeliverer(app);
  const show = async () => (await listDeliveries(app, owner, id.created))[0];
  const first = await waitFor(async () => ((await show())?.attempts ? show() : null));
  expect(first).toMatchObject({
    status: "pending",
    responseStatus: null,
    error: "the receiver cannot be reached",
  });
  await using receiver = await openWebhookReceiver({ port: id.port });
  receiver.secret = id.secret;
  receiver.respond = () => new Response("oops", { status: 503 });
  await hurry(app);
  const second = await waitFor(async () => ((await show())?.responseStatus ? show() : null));
  expect(second).toMatchObject({
    status: "pending",
    responseStatus: 503,
    error: "the receiver responded with status 503",
  });
  receiver.respond = () => new Response(null, { status: 200 });
  await hurry(app);
  await waitFor(async () => (await show())?.status === "delivered");
  expect(receiver.received.length).toBeGreaterThanOrEqual(2);
  expect(new Set(receiver.received.map((delivery) => delivery.id))).toEqual(new Set([first.id]));
});

/**
 * Ends the webhook's pause and returns the seconds that were left. Returns 0 if no pause is left: the webhook is overdue, nothing
 * is pending, or a runner's claim makes the webhook due in a minute.
 */
async function skipPause({ db }: TestApp): Promise<number> {
  return db.sql.begin(async (tx) => {
    const [webhook] = await tx<{ id: string; seconds: number }[]>`
      select id, extract(epoch from due_at - clock_timestamp())::float8 as seconds
      from webhooks
      where due_at between clock_timestamp() and clock_timestamp() + interval '50 s'
      for update`;
    if (!webhook) return 0;
    await tx`update webhooks set due_at = due_at - make_interval(secs => ${webhook.seconds})`;
    await tx`
      update webhook_deliveries set next_attempt_at = next_attempt_at - make_interval(secs => ${webhook.seconds})`;
    return webhook.seconds;
  });
}

test("delivers 30 events to a receiver that fails every third request, with under four seconds of pauses", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using receiver = await openWebhookReceiver();
  const id = await hook(app, owner, receiver);
  const jobs: string[] = [];
  for (let n = 0; n < 30; n += 1) jobs.push(await addEvent(app, owner));
  let requests = 0;
  const accepted: unknown[] = [];
  receiver.respond = ({ event }) => {
    requests += 1;
    if (requests % 3 === 0) return new Response(null, { status: 500 });
    accepted.push(event.data["jobId"]);
    return new Response(null, { status: 204 });
  };
  await using _ = await openDeliverer(app);
  let pausedSeconds = 0;
  await waitFor(async () => {
    pausedSeconds += await skipPause(app);
    return accepted.length === 30;
  });
  expect(accepted.toSorted()).toEqual(jobs.toSorted());
  // 30 deliveries, and one retry for each of the 14 failed requests.
  expect(requests).toBe(44);
  expect(pausedSeconds).toBeLessThan(4);
  expect(receiver.open.max).toBe(1);
  const attempts = (await listDeliveries(app, owner, id)).map((delivery) => delivery.attempts);
  expect(Math.max(...attempts)).toBeLessThanOrEqual(4);
});

test("lengthens a webhook's pauses with consecutive failures, up to five minutes", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using receiver = await openWebhookReceiver();
  const webhookId = await hook(app, owner, receiver);
  for (let n = 0; n < 12; n += 1) await addEvent(app, owner);
  while (await settleEvents(app.db.sql));
  await queueDeliveries(app.db.sql);
  const pauses: number[] = [];
  for (let n = 0; n < 12; n += 1) {
    const [claimed] = await claimDeliveries(app.db.sql, 1);
    const failure = { id: claimed?.id ?? "", webhookId, responseStatus: 500, error: "failed" };
    await noteAttempt(app.db.sql, failure);
    const [row] = await app.db.sql<[{ seconds: number }]>`
      select round(extract(epoch from due_at - clock_timestamp()))::float8 as seconds from webhooks`;
    pauses.push(row.seconds);
    await app.db.sql`update webhooks set due_at = now() - interval '1 s'`;
  }
  expect(pauses.map((pause) => Math.abs(pause))).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
});

test("resends a delivery under the same id if it was sent but not recorded", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using receiver = await openWebhookReceiver();
  const id = await hook(app, owner, receiver);
  await addEvent(app, owner);
  // Prevents the runner from recording the receiver's response, as if the runner were killed.
  const isAway = Promise.withResolvers<void>();
  receiver.respond = async () => {
    await app.db.owner`alter table webhook_deliveries rename to webhook_deliveries_away`;
    isAway.resolve();
    return new Response(null, { status: 204 });
  };
  {
    await using _ = await openDeliverer(app);
    await isAway.promise;
  }
  await app.db.owner`alter table webhook_deliveries_away rename to webhook_deliveries`;
  receiver.respond = () => new Response(null, { status: 204 });
  expect((await listDeliveries(app, owner, id))[0]).toMatchObject({ status: "pending", attempts: 0 });
  await hurry(app);
  await using _ = await openDeliverer(app);
  await waitFor(async () => (await listDeliveries(app, owner, id))[0]?.status === "delivered");
  const [first, second] = receiver.received;
  expect(second).toEqual(first as never);
});

test("shares deliveries between two runners, with one request at a time per webhook", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using receiver = await openWebhookReceiver();
  const id = await hook(app, owner, receiver);
  const jobs: string[] = [];
  for (let n = 0; n < 120; n += 1) jobs.push(await addEvent(app, owner));
  await using _a = await openDeliverer(app);
  await using _b = await openDeliverer(app);
  await waitFor(() => receiver.received.length >= 120);
  await waitFor(async () =>
    (await listDeliveries(app, owner, id)).every(({ status }) => status === "delivered"),
  );
  expect(jobsOf(receiver).toSorted()).toEqual(jobs.toSorted());
  expect(receiver.open.max).toBe(1);
  // A webhook keeps up to 100 finished deliveries.
  const [row] = await app.db.sql`select count(*)::int as count from webhook_deliveries`;
  expect(row?.["count"]).toBe(100);
});

test("delivers to other receivers while one receiver never responds", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using slow = await openWebhookReceiver();
  await using fast = await openWebhookReceiver();
  const never = Promise.withResolvers<Response>();
  slow.respond = () => never.promise;
  const slowId = await hook(app, owner, slow);
  await hook(app, owner, fast);
  await using _ = await openDeliverer(app, { sending: { timeoutMs: 2000 } });
  await addEvent(app, owner);
  await waitFor(() => slow.open.now === 1 && fast.received.length === 1);
  const jobId = await addEvent(app, owner);
  await waitFor(() => fast.received.length === 2);
  expect(jobsOf(fast)[1]).toBe(jobId);
  await waitFor(async () => (await listDeliveries(app, owner, slowId)).some(({ attempts }) => attempts > 0));
  const deliveries = await listDeliveries(app, owner, slowId);
  expect(deliveries.at(-1)).toMatchObject({
    status: "pending",
    responseStatus: null,
    error: "the receiver did not respond within 2 s",
  });
  expect(slow.open.max).toBe(1);
  never.resolve(new Response());
});

test("disables a webhook after three days of failures, and mails its owner", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using receiver = await openWebhookReceiver();
  receiver.respond = () => new Response(null, { status: 500 });
  const id = await hook(app, owner, receiver);
  await addEvent(app, owner);
  await using deliverer = await openDeliverer(app);
  await waitFor(async () => (await listDeliveries(app, owner, id))[0]?.attempts === 1);
  await addEvent(app, owner);
  await app.db
    .sql`update webhook_deliveries set first_attempt_at = now() - interval '73 hours', attempts = 9`;
  await hurry(app);
  const path = `/api/v1/orgs/${owner.org.slug}/webhooks/${id}`;
  const isEnabled = async () => {
    const response = await app.request(path, { key: owner.key });
    return ((await response.json()) as { data: { enabled: boolean } }).data.enabled;
  };
  await waitFor(async () => !(await isEnabled()));
  expect((await listDeliveries(app, owner, id)).map(({ status }) => status)).not.toContain("pending");
  const [queued] = await app.db.sql`select data from pgboss.job where name = 'send_webhook_disabled'`;
  const { origin } = new URL(receiver.url);
  expect(queued?.["data"]).toEqual({ webhookId: id, disabledAt: expect.any(String), origin });
  // Adds an owner who joined earlier but is disabled. The mail goes to the first owner who is not disabled.
  const founder = await app.make.user({ disabledAt: new Date().toISOString() });
  await app.make.member({ orgId: owner.org.id, userId: founder.id, role: "owner" });
  await app.db.sql`
    update organization_members set joined_at = now() - interval '1 year' where user_id = ${founder.id}`;
  const mails: { to: string; subject: string; text: string }[] = [];
  const mailer = {
    async send(mail: (typeof mails)[0]) {
      mails.push(mail);
      return "sent" as const;
    },
  };
  await sendWebhookDisabled({ ...deliverer.runner.deps, mailer }, queued?.["data"]);
  expect(mails).toMatchObject([
    { to: owner.user.email, subject: `A webhook of ${owner.org.name} is disabled` },
  ]);
  expect(mails[0]?.text).toContain(`delivered to ${origin} for three days.`);
  expect(mails[0]?.text).toContain(`/orgs/${owner.org.slug}/webhooks/${id}\n`);
  const sent = receiver.received.length;
  await addEvent(app, owner);
  receiver.respond = () => new Response(null, { status: 204 });
  const enable = { method: "PATCH", key: owner.key, body: { enabled: true } };
  await app.request("/api/v1/events");
  expect((await app.request(path, enable)).status).toBe(200);
  const jobId = await addEvent(app, owner);
  await waitFor(() => receiver.received.length > sent);
  expect(jobsOf(receiver).slice(sent)).toEqual([jobId]);
  await sendWebhookDisabled({ ...deliverer.runner.deps, mailer }, { webhookId: id });
  expect(mails).toHaveLength(1);
});

test("delivers events while the artifact store is down", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  const { sql, log, config } = app.deps;
  const keys = { accessKeyId: "key", secretAccessKey: "secret", sessionToken: null };
  const s3 = {
    endpoint: "http://127.0.0.1:1",
    region: "us-east-1",
    credentials: { type: "static" as const, ...keys },
  };
  const store = openArtifactStore({ ...config, artifactUrl: "s3://exports", s3 });
  await using receiver = await openWebhookReceiver();
  await hook(app, owner, receiver);
  const jobId = await addEvent(app, owner);
  await using __ = await openDeliverer(app, { owner: openStoreOwner({ sql, store, log }) });
  await waitFor(() => receiver.received.length > 0);
  expect(jobsOf(receiver)).toEqual([jobId]);
  const events = app.logLines.map(({ event }) => event);
  expect(events).toContain("artifact_store.unknown_owner");
});

test("drops the delivery to a webhook that is deleted during the request", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using receiver = await openWebhookReceiver();
  const id = await hook(app, owner, receiver);
  const path = `/api/v1/orgs/${owner.org.slug}/webhooks/${id}`;
  receiver.respond = async () => {
    expect((await app.request(path, { method: "DELETE", key: owner.key })).status).toBe(204);
    return new Response(null, { status: 500 });
  };
  await addEvent(app, owner);
  {
    await using _ = await openDeliverer(app);
    await waitFor(() => receiver.received.length === 1 && receiver.open.now === 0);
  }
  const [row] = await app.db.sql`
    select (select count(*)::int from webhooks) as webhooks, (select count(*)::int from webhook_deliveries) as deliveries`;
  expect({ ...row }).toEqual({ webhooks: 0, deliveries: 0 });
  expect(app.logLines.filter(({ level }) => level === "error")).toEqual([]);
});

test("limits the pending deliveries of a webhook that is far behind, and still processes every event", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using receiver = await openWebhookReceiver();
  const id = await hook(app, owner, receiver);
  receiver.respond = () => new Response(null, { status: 500 });
  await app.db.sql`
    insert into events (type, org_id, is_public, data)
    select 'export.ready', ${owner.org.id}, false, jsonb_build_object('jobId', n::text)
    from generate_series(1, 1050) as n`;
  const count = async (where: string) => {
    const [row] = await app.db.sql<[{ count: number }]>`
      select count(*) from webhook_deliveries where webhook_id = ${id} and status = ${where}`;
    return row.count;
  };
  {
    await using _ = await openDeliverer(app);
    await waitFor(async () => receiver.received.length > 0 && (await count("pending")) >= 1000);
  }
  expect(await count("pending")).toBe(1000);
  await app.db.sql`update webhook_deliveries set status = 'delivered'`;
  receiver.respond = () => new Response(null, { status: 204 });
  await hurry(app);
  await using _ = await openDeliverer(app);
  await waitFor(async () => {
    const [row] = await app.db.sql`select position from webhooks where id = ${id}`;
    return row?.["position"] === 1050 && (await count("pending")) === 0;
  });
  expect(new Set(jobsOf(receiver)).size).toBeGreaterThanOrEqual(50);
});

test("lets only one of several runners claim a webhook", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  await using receiver = await openWebhookReceiver();
  const id = await hook(app, owner, receiver);
  const path = `/api/v1/orgs/${owner.org.slug}/webhooks/${id}/test`;
  expect((await app.request(path, { method: "POST", key: owner.key })).status).toBe(201);
  const claims = await Promise.all([1, 2, 3].map(() => claimDeliveries(app.db.sql, 5)));
  expect(claims.flat()).toHaveLength(1);
});

test("takes turns between organizations, regardless of their number of due webhooks", async () => {
  await using place = await openPlace();
  const { app, owner } = place;
  const other = await app.make.person({ role: "owner" });
  await using receiver = await openWebhookReceiver();
  for (const person of [owner, owner, owner, other]) {
    const id = await hook(app, person, receiver);
    const path = `/api/v1/orgs/${person.org.slug}/webhooks/${id}/test`;
    expect((await app.request(path, { method: "POST", key: person.key })).status).toBe(201);
  }
  const orgs = (await claimDeliveries(app.db.sql, 2)).map(({ orgId }) => orgId);
  expect(orgs.toSorted()).toEqual([owner.org.id, other.org.id].toSorted());
  expect(await claimDeliveries(app.db.sql, 5)).toHaveLength(2);
});
