/** Job runners killed during webhook deliveries: every event arrives, and the delivery log is correct. */
import { expect, test } from "bun:test";
import { insertExportEvent } from "../../sql/events/events.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { openWebhookReceiver, type WebhookReceiver } from "../helpers/network/webhook_receiver.ts";
import { createWebhook, listDeliveries } from "../helpers/network/webhooks.ts";
import type { Person } from "../helpers/postgres/factory.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { randomNumbers } from "../helpers/random_numbers.ts";
import { waitFor } from "../helpers/wait_for.ts";

const NETWORKS = "127.0.0.0/8";
/** The delivery log returns the last 100 deliveries. */
const EVENTS = 99;
const DEATHS = 6;
/** Longer than a delivery, so that runners are killed before, during and after a delivery. */
const MAX_LIFE_MS = 20;
const SEED = 20_261_122;

async function openPlace() {
  const app = await openTestApp({ config: { webhookAllowedNetworks: NETWORKS } });
  const owner = await app.make.person({ role: "owner" });
  const { databaseUrl, dataDir } = app.deps.config;
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, WEBHOOK_ALLOWED_NETWORKS: NETWORKS };
  return { app, owner, env, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

/** Adds export events to the organization, and returns the ids of their jobs. */
async function addEvents({ db }: TestApp, { org }: Person, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  for (const id of ids) await insertExportEvent(db.sql, { id, orgId: org.id, status: "ready" });
  return ids;
}

/** Expires the claims of killed runners. A claim lasts a minute. */
async function endClaims({ db }: TestApp): Promise<void> {
  await db.sql`update webhooks set due_at = now() - interval '1 second' where due_at is not null`;
}

const jobsOf = ({ received }: WebhookReceiver) => received.map(({ event }) => event.data["jobId"]);

test("an event is resent with the same id if the runner is killed before recording the receiver's 2xx response", async () => {
  await using place = await openPlace();
  const { app, owner, env } = place;
  await using receiver = await openWebhookReceiver();
  const id = await createWebhook(app, owner, { receiver, types: ["export.ready"] });
  const jobs = await addEvents(app, owner, 2);
  const requested = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  receiver.respond = async () => {
    requested.resolve();
    await locked.promise;
    return new Response(null, { status: 204 });
  };
  {
    await using runner = await startRunner(env);
    await requested.promise;
    const killed = Promise.withResolvers<void>();
    // Recording the delivery waits for this lock, so the runner has already received the 204 when it is killed.
    const holding = app.db.sql.begin(async (tx) => {
      await tx`select from webhooks where id = ${id} for update`;
      locked.resolve();
      await killed.promise;
    });
    await waitFor(async () => {
      const [waiting] = await app.db.admin`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'ulr-jobs' and wait_event_type = 'Lock'
          and query ilike '%for update%'`;
      return waiting !== undefined;
    });
    runner.kill("SIGKILL");
    await runner.exited;
    killed.resolve();
    await holding;
  }
  expect(jobsOf(receiver)).toEqual(jobs.slice(0, 1));
  const pending = { status: "pending", attempts: 0, responseStatus: null, error: null };
  expect(await listDeliveries(app, owner, id)).toMatchObject([pending, pending]);

  receiver.respond = () => new Response(null, { status: 204 });
  await endClaims(app);
  await using _another = await startRunner(env);
  await waitFor(async () => {
    const deliveries = await listDeliveries(app, owner, id);
    return deliveries.every(({ status }) => status === "delivered");
  });
  expect(jobsOf(receiver)).toEqual([jobs[0], ...jobs]);
  const [first, again, other] = receiver.received;
  expect(again).toEqual(first as never);
  const delivered = { status: "delivered", attempts: 1, responseStatus: 204, error: null };
  const log = await listDeliveries(app, owner, id);
  // The log lists the newest delivery first.
  expect(log).toMatchObject([delivered, delivered]);
  expect(log.map((delivery) => delivery.id)).toEqual([other?.id ?? "", first?.id ?? ""]);
  expect(receiver.forged).toBe(0);
});

test("all events arrive in their original order, even if runners are killed between and during deliveries", async () => {
  await using place = await openPlace();
  const { app, owner, env } = place;
  await using receiver = await openWebhookReceiver();
  const id = await createWebhook(app, owner, { receiver, types: ["export.ready"] });
  const jobs = await addEvents(app, owner, EVENTS);
  const random = randomNumbers(SEED);
  for (let death = 0; death < DEATHS; death += 1) {
    const before = receiver.received.length;
    await using runner = await startRunner(env);
    await waitFor(() => receiver.received.length > before);
    // The only fixed wait, because the time of the kill is what this test varies.
    await Bun.sleep(random() * MAX_LIFE_MS);
    runner.kill("SIGKILL");
    await runner.exited;
    await endClaims(app);
  }
  const [left] = await app.db.sql`
    select count(*)::int as count from webhook_deliveries where status = 'pending'`;
  expect(left?.["count"]).toBeGreaterThan(0);
  await using _last = await startRunner(env);
  await waitFor(async () => {
    const [row] = await app.db.sql<[{ count: number }]>`
      select count(*)::int as count from webhook_deliveries where status = 'delivered'`;
    return row.count === EVENTS;
  });

  // The receiver never failed, so events arrived in order, and only interrupted deliveries were repeated.
  expect([...new Set(jobsOf(receiver))]).toEqual(jobs);
  expect(receiver.received.length).toBeLessThanOrEqual(EVENTS + DEATHS);
  const ids = new Map(receiver.received.map((delivery) => [delivery.event.id, delivery.id]));
  expect(receiver.received.filter((delivery) => ids.get(delivery.event.id) !== delivery.id)).toEqual([]);
  const log = await listDeliveries(app, owner, id);
  expect(log.map(({ eventId }) => eventId).reverse()).toEqual([...ids.keys()]);
  expect(log.filter(({ status, attempts }) => status !== "delivered" || attempts !== 1)).toEqual([]);
  expect([receiver.forged, receiver.open.max]).toEqual([0, 1]);
});
