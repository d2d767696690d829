import { expect, test } from "bun:test";
import { isPublicAddress } from "../../../shared/network/public_address.ts";

test("isPublicAddress() accepts public addresses", () => {
  for (const address of [
    "1.1.1.1",
    "104.16.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "2606:4700::1111",
    "[2a00:1450::1]",
  ]) {
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
  }
});

test("isPublicAddress() rejects local, private and reserved addresses in every notation", () => {
  for (const address of [
    ...["127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    ...[
      "100.64.0.1",
      "169.254.169.254",
      "192.0.0.8",
      "198.18.0.1",
      "203.0.113.7",
      "224.0.0.1",
      "255.255.255.255",
    ],
    ...["::1", "[::1]", "::", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "::127.0.0.1"],
    ...["64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:1::1", "2001:db8::1", "3fff::1"],
    ...["fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "ff02::1", "4000::1"],
    ...["", "localhost", "example.org", "127.1", "0x7f.0.0.1"],
  ]) {
    expect([address, isPublicAddress(address)]).toEqual([address, false]);
  }
});
