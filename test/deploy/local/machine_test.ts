/** Choosing free ports, and reporting why a server cannot listen. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { chooseFreePort, findListenProblem } from "../../../deploy/local/machine.ts";

const HOST = "127.0.0.1";
const EPHEMERAL = "/proc/sys/net/ipv4/ip_local_port_range";
/** The lowest ephemeral port on all systems we know. */
const USUAL_START = 32_768;

test("chooseFreePort() never chooses an ephemeral port", () => {
  const range = existsSync(EPHEMERAL) ? readFileSync(EPHEMERAL, "utf8") : `${USUAL_START}`;
  const ports = Array.from({ length: 50 }, () => chooseFreePort(HOST));
  expect(Math.max(...ports)).toBeLessThan(Number.parseInt(range, 10));
  expect(new Set(ports).size).toBeGreaterThan(40);
});

test("chooseFreePort() does not choose a port reserved for another process", () => {
  const reserved = chooseFreePort(HOST);
  expect(chooseFreePort(HOST, reserved)).toBe(reserved);
  expect(chooseFreePort(HOST, reserved, reserved)).not.toBe(reserved);
});

test("findListenProblem() reports a host name that does not resolve", () => {
  expect(findListenProblem("nowhere.invalid", 3000)).toBe(
    "Cannot listen on nowhere.invalid:3000: the address is not known",
  );
});
