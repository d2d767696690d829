import { expect, test } from "bun:test";
import { openNetworks } from "../../../shared/network/networks.ts";
import { isDeliverable } from "../../../shared/network/webhook_destination.ts";

test("isDeliverable() requires TLS for public addresses but not for allowed networks, and rejects other networks", () => {
  const networks = openNetworks("10.1.0.0/16");
  expect(isDeliverable(networks, "1.1.1.1", { isTls: true })).toBe(true);
  expect(isDeliverable(networks, "1.1.1.1", { isTls: false })).toBe(false);
  expect(isDeliverable(networks, "10.1.0.1", { isTls: false })).toBe(true);
  expect(isDeliverable(networks, "10.2.0.1", { isTls: true })).toBe(false);
});
