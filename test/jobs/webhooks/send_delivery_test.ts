import { expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { getServers, Resolver, setServers } from "node:dns";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Webhook } from "standardwebhooks";
import { type SendOptions, sendDelivery } from "../../../jobs/webhooks/send_delivery.ts";
import { openNetworks } from "../../../shared/network/networks.ts";
import { openWebhookReceiver } from "../../helpers/network/webhook_receiver.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NO_PUBLIC_ADDRESS = "the host has no public address, or does not exist";
const NEVER = new AbortController().signal;

function send(url: string, options: Partial<SendOptions> = {}, claimedAt = new Date().toISOString()) {
  const id = crypto.randomUUID();
  const delivery = { id, url, secrets: [SECRET], payload: '{"type":"webhook.test"}', claimedAt };
  return sendDelivery(delivery, { networks: openNetworks("127.0.0.1/32"), signal: NEVER, ...options });
}

function resolvesTo(...addresses: string[]) {
  return async () => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

test("signs a delivery, and treats any 2xx status as success", async () => {
  await using receiver = await openWebhookReceiver();
  receiver.secret = SECRET;
  for (const status of [200, 201, 204]) {
    receiver.respond = () => new Response(null, { status });
    expect(await send(receiver.url)).toEqual({ responseStatus: status, error: null, cause: null });
  }
  expect([receiver.received.length, receiver.forged]).toEqual([3, 0]);
});

test("signs the time at which the delivery was claimed, not the machine's time", async () => {
  const claimedAt = new Date(Date.now() - 60_000).toISOString();
  const timestamps: (string | null)[] = [];
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      new Webhook(SECRET).verify(await request.text(), Object.fromEntries(request.headers.entries()));
      timestamps.push(request.headers.get("webhook-timestamp"));
      return new Response();
    },
  });
  expect(await send(server.url.href, {}, claimedAt)).toMatchObject({ responseStatus: 200 });
  expect(timestamps).toEqual([String(Math.floor(Date.parse(claimedAt) / 1000))]);
});

test("treats a redirect as a failure and does not follow it", async () => {
  await using target = await openWebhookReceiver();
  await using receiver = await openWebhookReceiver();
  receiver.secret = target.secret = SECRET;
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.respond = () => new Response(null, { status, headers: { location: target.url } });
    expect(await send(receiver.url)).toEqual({
      responseStatus: status,
      error: `the receiver responded with a redirect (${status}), which is not followed`,
      cause: null,
    });
  }
  expect([target.received.length, target.forged]).toEqual([0, 0]);
});

test("does not wait for the end of an endless response", async () => {
  await using receiver = await openWebhookReceiver();
  receiver.secret = SECRET;
  const endless = () =>
    new ReadableStream(
      { pull: async (stream) => stream.enqueue(new Uint8Array(65_536)) },
      { highWaterMark: 0 },
    );
  receiver.respond = () => new Response(endless(), { status: 200 });
  expect(await send(receiver.url)).toEqual({ responseStatus: 200, error: null, cause: null });
});

test("sends nothing to a non-public address in any notation", async () => {
  await using receiver = await openWebhookReceiver();
  const { port } = new URL(receiver.url);
  const options = { networks: openNetworks(null) };
  for (const host of [
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "2130706433",
    "0.0.0.0",
    "[::1]",
    "[::ffff:127.0.0.1]",
  ]) {
    for (const scheme of ["http", "https"]) {
      const result = await send(`${scheme}://${host}:${port}/hook`, options);
      expect([host, result]).toEqual([
        host,
        {
          responseStatus: null,
          error: NO_PUBLIC_ADDRESS,
          cause: "the host has an address that is not public",
        },
      ]);
    }
  }
  expect([receiver.received.length, receiver.forged]).toEqual([0, 0]);
});

test("sends nothing to a host name that has a non-public address", async () => {
  await using receiver = await openWebhookReceiver();
  const { port } = new URL(receiver.url);
  for (const addresses of [
    ["127.0.0.1"],
    ["10.0.0.1"],
    ["169.254.169.254"],
    ["100.64.0.1"],
    ["::1"],
    ["fd00::1"],
    ["fe80::1"],
    ["::ffff:127.0.0.1"],
    ["224.0.0.1"],
    ["1.1.1.1", "127.0.0.1"],
    [],
  ]) {
    const options = { networks: openNetworks(null), resolve: resolvesTo(...addresses) };
    const result = await send(`https://hooks.example.com:${port}/hook`, options);
    expect([addresses, result.responseStatus, result.error]).toEqual([addresses, null, NO_PUBLIC_ADDRESS]);
  }
  expect([receiver.received.length, receiver.forged]).toEqual([0, 0]);
});

test("sends nothing to the internet without TLS", async () => {
  const options = { networks: openNetworks("127.0.0.1/32"), resolve: resolvesTo("1.1.1.1") };
  expect(await send("http://hooks.example.com/hook", options)).toEqual({
    responseStatus: null,
    error: NO_PUBLIC_ADDRESS,
    cause: "the host has an address that is not public",
  });
});

test("connects to the address that was checked, with a single lookup", async () => {
  await using receiver = await openWebhookReceiver();
  receiver.secret = SECRET;
  const { port } = new URL(receiver.url);
  let lookups = 0;
  const resolve = async () => {
    lookups += 1;
    // Simulates DNS rebinding: a second lookup would return another address.
    return [{ address: lookups === 1 ? "127.0.0.1" : "127.0.0.9", family: 4 }];
  };
  const result = await send(`http://hooks.example.com:${port}/hook`, { resolve });
  expect(result).toEqual({ responseStatus: 204, error: null, cause: null });
  expect([lookups, receiver.received.length]).toEqual([1, 1]);
});

test("reports a resolver that does not respond or does not know the name", async () => {
  const silent = await send("https://hooks.example.com/", {
    timeoutMs: 50,
    resolve: () => new Promise(() => {}),
  });
  expect(silent).toEqual({
    responseStatus: null,
    error: "the receiver did not respond within 0.05 s",
    cause: null,
  });
  const unknown = await send("https://hooks.example.com/", {
    resolve: async () => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    },
  });
  expect(unknown).toEqual({ responseStatus: null, error: NO_PUBLIC_ADDRESS, cause: "ENOTFOUND" });
});

test("reloads the machine's name servers after a lookup at outdated name servers fails", async () => {
  const server = createSocket("udp4").bind(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise<void>((resolve) => server.close(resolve));
  const others = getServers();
  const isRefused = async () => {
    setServers([`127.0.0.1:${port}`]);
    const { error, cause } = await send("https://receiver.example/");
    return error === NO_PUBLIC_ADDRESS && cause === "ECONNREFUSED";
  };
  try {
    // Retries, because a failed lookup of an earlier test may still reset the name servers.
    await waitFor(isRefused);
    expect(getServers()).toEqual(new Resolver().getServers());
  } finally {
    setServers(others);
  }
});

test("can still read files while many lookups wait for unresponsive name servers", async () => {
  const server = createSocket("udp4").bind(0, "127.0.0.1");
  await once(server, "listening");
  const others = getServers();
  setServers([`127.0.0.1:${server.address().port}`]);
  const stop = new AbortController();
  try {
    const asked = once(server, "message");
    const options = { timeoutMs: 240_000, signal: stop.signal };
    const sent = Array.from({ length: 16 }, (_, n) => send(`https://silent-${n}.example/`, options));
    const first = await Promise.race([asked.then(() => "asked"), ...sent]);
    expect(first).toBe("asked");
    const read = readFile(import.meta.path).then(() => "read");
    expect(await Promise.race([read, ...sent])).toBe("read");
  } finally {
    stop.abort();
    setServers(others);
    server.close();
  }
});

test("reports the same error for every unreachable receiver, and the cause separately for the operator", async () => {
  // Sends to a port without a listener, and over HTTPS to a port that does not speak TLS.
  await using receiver = await openWebhookReceiver();
  const { port } = new URL(receiver.url);
  const options = { networks: openNetworks("127.0.0.0/8") };
  const results = [
    await send("http://127.0.0.1:1/hook", options),
    await send(`https://127.0.0.1:${port}/`, options),
  ];
  expect(results.map(({ error }) => error)).toEqual(Array(2).fill("the receiver cannot be reached"));
  expect(new Set(results.map(({ cause }) => cause)).size).toBe(2);
});
