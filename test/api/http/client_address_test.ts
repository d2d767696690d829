import { describe, expect, test } from "bun:test";
import { clientAddress, networkOf } from "../../../api/http/client_address.ts";
import { login } from "../../helpers/accounts/accounts.ts";
import { openTestApp } from "../../helpers/http/app.ts";

describe("clientAddress()", () => {
  test("is the connection's address without a trusted proxy, whatever X-Forwarded-For says", () => {
    const headers = new Headers({ "x-forwarded-for": "203.0.113.9" });
    expect(clientAddress(headers, "192.0.2.1", 0)).toBe("192.0.2.1");
    expect(clientAddress(headers, null, 0)).toBe("unknown");
  });

  test("is the last hop from a trusted proxy", () => {
    const headers = new Headers({ "x-forwarded-for": "203.0.113.9, 2001:db8::1" });
    expect(clientAddress(headers, "192.0.2.1", 1)).toBe("2001:db8::1");
    expect(clientAddress(new Headers({ "x-forwarded-for": " " }), "192.0.2.1", 1)).toBe("192.0.2.1");
  });

  test("is the n-th hop from the end behind n proxies", () => {
    const headers = new Headers({ "x-forwarded-for": "203.0.113.66, 198.51.100.7:443, [2001:db8::1]:80" });
    headers.append("x-forwarded-for", "10.0.0.9");
    const hops = [1, 2, 3, 4].map((proxies) => clientAddress(headers, "192.0.2.1", proxies));
    expect(hops).toEqual(["10.0.0.9", "2001:db8::1", "198.51.100.7", "203.0.113.66"]);
  });

  test("is the peer's address if a request bypassed a proxy or a proxy wrote no address", () => {
    for (const header of [
      "203.0.113.9",
      "unknown, 10.0.0.9",
      ", 10.0.0.9",
      "203.0.113.9, , ",
      "203.0.113.300, 10.0.0.9",
      "fe80::1%25x, 10.0.0.9",
      `${"9".repeat(8000)}, 10.0.0.9`,
      "203.0.113.9 203.0.113.10, 10.0.0.9",
      "example.com, 10.0.0.9",
      "0x7f.1, 10.0.0.9",
    ]) {
      expect(clientAddress(new Headers({ "x-forwarded-for": header }), "192.0.2.1", 2)).toBe("192.0.2.1");
    }
  });

  test("has no port, even if a proxy adds one", () => {
    for (const [hop, address] of [
      ["203.0.113.9:50123", "203.0.113.9"],
      ["[2001:db8::1]:50123", "2001:db8::1"],
      ["[2001:db8::1]", "2001:db8::1"],
      ["2001:db8::1:5012", "2001:db8::1:5012"],
    ] as const) {
      expect(clientAddress(new Headers({ "x-forwarded-for": hop }), null, 1)).toBe(address);
    }
  });

  test("is an IPv4 address if the peer has an IPv4-mapped IPv6 address", () => {
    for (const peer of ["::ffff:198.51.100.7", "::FFFF:c633:6407", "0:0:0:0:0:ffff:c633:6407"]) {
      expect(clientAddress(new Headers(), peer, 0)).toBe("198.51.100.7");
    }
  });
});

test("networkOf() returns an IPv4 address unchanged, and the /64 of an IPv6 address in any notation", () => {
  const networks = {
    "198.51.100.7": "198.51.100.7",
    unknown: "unknown",
    "not:an:address": "not:an:address",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
    "2001:0DB8:0001:0002::": "2001:db8:1:2::/64",
    "2001:db8:1:3::1": "2001:db8:1:3::/64",
    "2001:db8::1:2:3:4:5": "2001:db8:0:1::/64",
    "2001:db8::": "2001:db8:0:0::/64",
    "::1": "0:0:0:0::/64",
    "::": "0:0:0:0::/64",
    "fe80::1%eth0": "fe80:0:0:0::/64",
    "64:ff9b::192.0.2.33": "64:ff9b:0:0::/64",
  };
  for (const [address, network] of Object.entries(networks)) {
    expect([address, networkOf(address)]).toEqual([address, network]);
  }
});

describe("the limits for a /64", () => {
  const inside = ["2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "2001:DB8:1:2::3"];
  const outside = "2001:db8:1:3::1";

  test("count requests from all of its addresses together", async () => {
    await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 2 } });
    const ask = async (address: string) => (await api.request("/api/v1/models", { address })).status;
    const statuses = [];
    for (const address of [...inside, outside]) statuses.push(await ask(address));
    expect(statuses).toEqual([200, 200, 429, 200]);
    // The log contains the full addresses.
    const logged = api.logLines.map(({ address }) => String(address));
    expect(logged.filter((address) => /^2001/.test(address))).toEqual([...inside, outside]);
  });

  test("count password guesses from all of its addresses together", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 2 } });
    const statuses = [];
    for (const address of [...inside, outside]) {
      const pair = { email: `${crypto.randomUUID()}@example.com`, password: "wrong password" };
      statuses.push((await login(api, pair, { address })).status);
    }
    expect(statuses).toEqual([401, 401, 429, 401]);
  });
});

describe("a /48, which a provider may assign to one customer, has ten times the limits of a /64", () => {
  const addresses = Array.from({ length: 11 }, (_, index) => `2001:db8:1:${index}::1`);
  const outside = "2001:db8:2:1::1";
  const expected = [...Array(10).fill("admitted"), 429, "admitted"];

  async function askAll(ask: (address: string) => Promise<Response>) {
    const statuses = [];
    for (const address of [...addresses, outside]) {
      const { status } = await ask(address);
      statuses.push(status === 429 ? 429 : "admitted");
    }
    return statuses;
  }

  test("for requests and pages", async () => {
    await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 1 } });
    expect(await askAll((address) => api.request("/api/v1/models", { address }))).toEqual(expected);
    expect(await askAll((address) => api.request("/metrics", { address }))).toEqual(expected);
  });

  test("for password guesses", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 1 } });
    const ask = (address: string) => {
      const pair = { email: `${crypto.randomUUID()}@example.com`, password: "wrong password" };
      return login(api, pair, { address });
    };
    expect(await askAll(ask)).toEqual(expected);
  });

  test("for password reset emails", async () => {
    await using api = await openTestApp();
    await api.db.sql`
      insert into account_mails (kind, email, network)
      select 'password_reset', n || '@example.com', '2001:db8:1:' || to_hex(n % 10) || '::/64'
      from generate_series(1, 290) n`;
    const ask = (address: string) => {
      const body = { email: `${crypto.randomUUID()}@example.com` };
      return api.request("/api/v1/auth/password/reset", { method: "POST", body, address });
    };
    // Each of the ten /64 networks may request one more email. The /48 has then used up its own limit.
    expect(await askAll(ask)).toEqual(expected);
  });
});
