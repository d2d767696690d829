import { expect, test } from "bun:test";
import { parseWebhookUrl } from "../../../../api/webhooks/webhooks.ts";
import { ApiError } from "../../../../shared/errors.ts";
import { openNetworks } from "../../../../shared/network/networks.ts";

function outcome(url: string, networks: string | null = null): string {
  try {
    return parseWebhookUrl(url, openNetworks(networks));
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

test("a public https address is accepted", () => {
  for (const url of ["https://example.com/", "https://example.com:8443/a?b=c", "https://1.1.1.1/hook"]) {
    expect(outcome(url)).toBe(url);
  }
});

test("a non-public address in any notation, http and unusual ports return UNPROCESSABLE_ENTITY", () => {
  for (const host of [
    ...[
      "127.0.0.1",
      "127.1",
      "0x7f000001",
      "2130706433",
      "017700000001",
      "0.0.0.0",
      "10.0.0.1",
      "172.16.0.1",
    ],
    ...["192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "127.0.0.1."],
    ...["[::1]", "[::]", "[fe80::1]", "[fd00::1]", "[ff02::1]", "[::ffff:127.0.0.1]", "[::ffff:1.1.1.1]"],
    ...[
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "localhost",
      "LOCALHOST",
      "localhost.",
      "a.localhost",
      "a.localhost.",
      "①②⑦.0.0.1",
    ],
  ]) {
    expect([host, outcome(`https://${host}/hook`)]).toEqual([host, "UNPROCESSABLE_ENTITY"]);
  }
  for (const url of [
    "http://example.com/",
    "http://1.1.1.1/",
    "https://example.com:25/",
    "https://example.com:22/",
  ]) {
    expect([url, outcome(url)]).toEqual([url, "UNPROCESSABLE_ENTITY"]);
  }
});

test("a malformed URL returns VALIDATION_ERROR", () => {
  for (const url of [
    ...[
      "",
      "example.com",
      "ftp://example.com/",
      "file:///etc/passwd",
      "https://",
      "https://a b/",
      "//example.com",
    ],
    ...[
      "https://user:pass@example.com/",
      "https://example.com/#a",
      `https://example.com/${"a".repeat(2048)}`,
    ],
  ]) {
    expect([url.slice(0, 40), outcome(url)]).toEqual([url.slice(0, 40), "VALIDATION_ERROR"]);
  }
});

test("the operator can allow networks, even without TLS, and other non-public or http URLs stay refused", () => {
  const networks = "10.1.0.0/16,127.0.0.1/32";
  for (const url of [
    "http://10.1.2.3/",
    "https://10.1.2.3/",
    "http://127.0.0.1:8080/",
    "http://hooks.internal/",
  ]) {
    expect(outcome(url, networks)).toBe(url);
  }
  for (const url of [
    "http://10.2.0.1/",
    "http://127.0.0.2/",
    "http://1.1.1.1/",
    "http://[::ffff:10.1.2.3]/",
  ]) {
    expect([url, outcome(url, networks)]).toEqual([url, "UNPROCESSABLE_ENTITY"]);
  }
});
