import { expect, test } from "bun:test";
import { isInNetworks, openNetworks, parseNetworks } from "../../../shared/network/networks.ts";

test("parseNetworks() parses a list of networks in CIDR notation, and rejects a malformed list", () => {
  for (const text of ["10.1.0.0/16", "127.0.0.1/32,fd00::/8", " 10.0.0.0/8 , ::1/128 ", "0.0.0.0/0"]) {
    expect([text, parseNetworks(text) !== null]).toEqual([text, true]);
  }
  for (const text of [
    "",
    ",",
    "10.0.0.0",
    "10.0.0.0/33",
    "::1/129",
    "10.0.0/8",
    "a/8",
    "10.0.0.0/8;",
    "10.0.0.0/-1",
  ]) {
    expect([text, parseNetworks(text) !== null]).toEqual([text, false]);
  }
});

test("isInNetworks() accepts only addresses in the networks, and no IPv4-mapped addresses", () => {
  const networks = openNetworks("10.1.0.0/16,fd00::/8");
  const inside = ["10.1.2.3", "fd12::1", "[fd12::1]"];
  const outside = [
    "10.2.0.1",
    "127.0.0.1",
    "fe80::1",
    "::ffff:10.1.2.3",
    "[::ffff:a01:203]",
    "localhost",
    "",
  ];
  expect(inside.filter((address) => !isInNetworks(networks, address))).toEqual([]);
  expect(outside.filter((address) => isInNetworks(networks, address))).toEqual([]);
});
