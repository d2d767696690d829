import { expect, test } from "bun:test";
import { settleEvents } from "../../../sql/events/event_feed.ts";
import { insertExportEvent } from "../../../sql/events/events.ts";
import { noteAttempt } from "../../../sql/webhooks/delivery_retries.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  queueDeliveries,
} from "../../../sql/webhooks/webhook_deliveries.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import type { ListedDelivery } from "../../helpers/network/webhooks.ts";
import { callWebhooks, dataOf, WEBHOOK_BODY } from "../../helpers/webhooks/call_webhooks.ts";

/** Opens an app with a webhook. No requests are sent: the test records the result of each attempt. */
async function openWebhook() {
  const app = await openTestApp();
  const { sql } = app.db;
  const owner = await app.make.person({ role: "owner" });
  const created = await callWebhooks(app, owner, "POST", "", WEBHOOK_BODY);
  const { id: webhookId } = await dataOf<{ id: string }>(created);
  const claim = async (): Promise<ClaimedDelivery | null> => (await claimDeliveries(sql, 1))[0] ?? null;
  return {
    app,
    claim,
    /** Adds pending deliveries. */
    addWaiting: (count: number) => sql`
      insert into webhook_deliveries (webhook_id, event_id, type, payload)
      select ${webhookId}, gen_random_uuid(), 'export.ready', '{}' from generate_series(1, ${count}::int)`,
    list: async () =>
      (
        await dataOf<{ deliveries: ListedDelivery[] }>(
          await callWebhooks(app, owner, "GET", `/${webhookId}/deliveries`),
        )
      ).deliveries,
    isEnabled: async () =>
      (await dataOf<{ enabled: boolean }>(await callWebhooks(app, owner, "GET", `/${webhookId}`))).enabled,
    addEvent: async (): Promise<void> => {
      await insertExportEvent(sql, { id: crypto.randomUUID(), orgId: owner.org.id, status: "ready" });
      while (await settleEvents(sql));
      await queueDeliveries(sql);
      // The due time is rounded to milliseconds, possibly up, so the delivery may become due only in the next millisecond.
      await sql`select pg_sleep(0.001)`;
    },
    sendTest: async (): Promise<string> =>
      (await dataOf<{ id: string }>(await callWebhooks(app, owner, "POST", `/${webhookId}/test`))).id,
    change: (body: unknown) => callWebhooks(app, owner, "PATCH", `/${webhookId}`, body),
    /** Records an attempt to send the claimed delivery. A null `error` means success. */
    note: async (error: string | null, delivery: ClaimedDelivery | null): Promise<void> => {
      const id = delivery?.id ?? "";
      await sql.begin((tx) => noteAttempt(tx, { id, webhookId, responseStatus: null, error }));
    },
    /**
     * Simulates 20 failed attempts of each pending delivery, and `failuresInRow - 1` consecutive failures of the webhook. After
     * another failure, the delivery's next attempt is about an hour away.
     */
    haveFailed: async (failuresInRow: number): Promise<void> => {
      await sql`update webhook_deliveries set attempts = 20, first_attempt_at = now() where status = 'pending'`;
      await sql`update webhooks set failures = ${failuresInRow - 1}`;
    },
    /** Returns the seconds until the next request, rounded to tens; null if nothing is pending. */
    dueIn: async (): Promise<number | null> => {
      const [row] = await sql<[{ seconds: number | null }]>`
        select round(extract(epoch from due_at - clock_timestamp())::numeric, -1)::float8 as seconds from webhooks`;
      return row.seconds === null ? null : Math.max(0, row.seconds);
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Opens an app with a webhook and a failed delivery whose next attempt is about an hour away. */
async function openFailing({ failuresInRow }: { failuresInRow: number }) {
  const hook = await openWebhook();
  await hook.addEvent();
  await hook.haveFailed(failuresInRow);
  const failed = await hook.claim();
  await hook.note("failed", failed);
  expect(await hook.dueIn()).toBeGreaterThan(2000);
  return { ...hook, failed };
}

test("delivers an event at once to a working receiver while another delivery waits for its next attempt", async () => {
  await using hook = await openFailing({ failuresInRow: 1 });
  await hook.addEvent();
  const claimed = await hook.claim();
  expect(claimed?.attempts).toBe(0);
  await hook.note(null, claimed);
  expect(await hook.dueIn()).toBeGreaterThan(2000);
  await hook.addEvent();
  expect((await hook.claim())?.attempts).toBe(0);
});

test("delays an event only by the failing webhook's pause, not until another delivery's next attempt", async () => {
  await using hook = await openFailing({ failuresInRow: 20 });
  await hook.addEvent();
  expect(await hook.dueIn()).toBe(300);
});

test("delays an event that is queued during a request until the request ends", async () => {
  await using hook = await openWebhook();
  await hook.addEvent();
  const claimed = await hook.claim();
  await hook.addEvent();
  expect([await hook.claim(), await hook.dueIn()]).toEqual([null, 60]);
  await hook.sendTest();
  await hook.change({ enabled: true });
  expect([await hook.claim(), await hook.dueIn()]).toEqual([null, 60]);
  await hook.note(null, claimed);
  expect(await hook.dueIn()).toBe(0);
});

test("delivers a test event first and at once, regardless of failed and waiting deliveries", async () => {
  await using hook = await openFailing({ failuresInRow: 20 });
  await hook.addEvent();
  const id = await hook.sendTest();
  expect((await hook.claim())?.id).toBe(id);
});

test.each([{ url: "https://example.com/other" }, { enabled: true }])(
  "PATCH with %j makes pending deliveries due",
  async (body) => {
    await using hook = await openFailing({ failuresInRow: 20 });
    expect((await hook.change({ types: ["export.ready", "model.added"] })).status).toBe(200);
    expect(await hook.dueIn()).toBeGreaterThan(2000);
    expect((await hook.change(body)).status).toBe(200);
    const claimed = await hook.claim();
    expect(claimed?.id).toBe(hook.failed?.id ?? "");
    await hook.note("failed", claimed);
    // A single failure does not pause the webhook.
    await hook.addEvent();
    expect(await hook.dueIn()).toBe(0);
  },
);

test("PATCH of a webhook without pending deliveries makes nothing due", async () => {
  await using hook = await openWebhook();
  await hook.change({ url: "https://example.com/other" });
  expect(await hook.dueIn()).toBeNull();
});

test("lists a failed delivery even if more than a hundred newer deliveries are waiting", async () => {
  await using hook = await openFailing({ failuresInRow: 1 });
  await hook.addWaiting(150);
  const listed = await hook.list();
  expect(listed).toHaveLength(100);
  expect(listed.at(-1)).toMatchObject({ id: hook.failed?.id ?? "", attempts: 21, error: "failed" });
  const attempts = listed.map((delivery) => delivery.attempts);
  expect(attempts).toEqual([...Array(99).fill(0), 21]);
});

test("keeps and lists the delivery that disabled the webhook, and delivers at once after the webhook is enabled", async () => {
  await using hook = await openFailing({ failuresInRow: 1 });
  await hook.addWaiting(150);
  await hook.app.db.sql`
    update webhook_deliveries
    set first_attempt_at = now() - interval '73 hours', next_attempt_at = now() - interval '1 day'
    where attempts > 0`;
  await hook.app.db.sql`update webhooks set due_at = now() - interval '1 s'`;
  await hook.note("still failing", await hook.claim());
  expect(await hook.isEnabled()).toBe(false);
  const listed = await hook.list();
  expect(listed).toHaveLength(100);
  expect(listed.at(-1)).toMatchObject({ status: "failed", attempts: 22, error: "still failing" });
  const [rows] = await hook.app.db.sql`select count(*)::int as count from webhook_deliveries`;
  expect(rows).toEqual({ count: 100 });
  await hook.change({ enabled: true });
  await hook.addEvent();
  expect(await hook.dueIn()).toBe(0);
});

test.each([
  { attempts: 1, failures: 1, isEnabled: true },
  { attempts: 8, failures: 8, isEnabled: true },
  { attempts: 9, failures: 0, isEnabled: false },
  { attempts: 1, failures: 9, isEnabled: false },
])(
  "sets enabled to $isEnabled after three days, $attempts delivery attempts and $failures webhook failures",
  async ({ attempts, failures, isEnabled }) => {
    await using hook = await openWebhook();
    await hook.addEvent();
    await hook.app.db.sql`
      update webhook_deliveries set attempts = ${attempts}, first_attempt_at = now() - interval '73 hours'`;
    await hook.app.db.sql`update webhooks set failures = ${failures}`;
    await hook.note("failed", await hook.claim());
    expect(await hook.isEnabled()).toBe(isEnabled);
  },
);

/**
 * Creates two organizations of one user and one organization of another user. `addDue` adds webhooks with one due delivery each.
 */
async function openThreeOrgs() {
  const app = await openTestApp();
  const { sql } = app.db;
  const creator = await app.make.user();
  const own = async (): Promise<string> => (await app.make.org({ createdBy: creator.id })).id;
  return {
    sql,
    first: await own(),
    second: await own(),
    other: (await app.make.org()).id,
    addDue: (orgId: string, count: number, seconds: number) => sql`
      with added as (
        insert into webhooks (org_id, url, types, secret, position, due_at)
        select ${orgId}, 'https://example.com/', '{export.ready}', 's', 0, now() - make_interval(secs => ${seconds} - n)
        from generate_series(1, ${count}::int) as n
        returning id
      )
      insert into webhook_deliveries (webhook_id, event_id, type, payload)
      select id, gen_random_uuid(), 'export.ready', '{}' from added`,
    claim: async () => (await claimDeliveries(sql, 1))[0],
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test("takes turns between organizations of the same user, even while requests are open", async () => {
  await using place = await openThreeOrgs();
  const { first, second, addDue, claim } = place;
  await addDue(first, 4, 1000);
  await addDue(second, 2, 900);
  const claimed = [await claim(), await claim(), await claim(), await claim()];
  expect(claimed.map((delivery) => delivery?.orgId)).toEqual([first, second, first, second]);
});

test("ranks all organizations of a user with open requests behind another user's organizations", async () => {
  await using place = await openThreeOrgs();
  const { sql, first, second, other, addDue, claim } = place;
  await addDue(first, 4, 1000);
  const open = [await claim(), await claim()];
  expect(open.map((delivery) => delivery?.orgId)).toEqual([first, first]);
  await addDue(second, 2, 900);
  await addDue(other, 3, 800);
  const next = [await claim(), await claim(), await claim(), await claim()];
  expect(next.map((delivery) => delivery?.orgId)).toEqual([other, other, second, other]);
  for (const ended of [...open, next[2]]) {
    const { id = "", webhookId = "" } = ended ?? {};
    await sql.begin((tx) => noteAttempt(tx, { id, webhookId, responseStatus: 200, error: null }));
  }
  await addDue(other, 1, 2000);
  expect((await claim())?.orgId).toBe(first);
  expect(await claimDeliveries(sql, 9)).toHaveLength(3);
});
