import { expect, test } from "bun:test";
import { hashPassword } from "../../../../../api/accounts/password_rules.ts";
import { PasswordQueue } from "../../../../../api/accounts/sign_in/sign_in_resources.ts";
import { ApiError } from "../../../../../shared/errors.ts";

/** A hash that is cheap to verify, because these tests are about the queue. */
const CHEAP_HASH = await Bun.password.hash("right", { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });

test("verifies and hashes passwords", async () => {
  const queue = new PasswordQueue();
  const hash = await queue.hash("right");
  expect(await queue.verify("right", hash, { isFirst: true })).toBe(true);
  expect(await queue.verify("wrong", hash, { isFirst: false })).toBe(false);
});

test("rejects verifications beyond the queue's capacity with Retry-After, except for known networks", async () => {
  const queue = new PasswordQueue();
  const hash = await hashPassword("right");
  const asked = Array.from({ length: 80 }, () => queue.verify("right", CHEAP_HASH, { isFirst: false }));
  // Verifications for known networks have their own queue, which runs first.
  const owner = queue.verify("right", hash, { isFirst: true });
  const responses = await Promise.allSettled(asked);
  const refused = responses.filter((response) => response.status === "rejected");
  expect(responses.filter((response) => response.status === "fulfilled" && response.value)).toHaveLength(66);
  expect(refused).toHaveLength(14);
  for (const { reason } of refused) {
    expect(reason).toBeInstanceOf(ApiError);
    expect([reason.code, reason.headers["Retry-After"]]).toEqual(["SERVICE_UNAVAILABLE", "5"]);
  }
  expect(await owner).toBe(true);
  expect(await queue.verify("right", CHEAP_HASH, { isFirst: false })).toBe(true);
});

test("serves known networks first", async () => {
  const queue = new PasswordQueue();
  const order: string[] = [];
  const ask = async (name: string, isFirst: boolean) => {
    await queue.verify("right", CHEAP_HASH, { isFirst });
    order.push(name);
  };
  const strangers = Array.from({ length: 20 }, (_, index) => ask(`stranger ${index}`, false));
  await Promise.all([ask("owner", true), ...strangers]);
  expect(order.indexOf("owner")).toBeLessThan(5);
});

test("failed verifications free their slots", async () => {
  const queue = new PasswordQueue();
  const broken = Array.from({ length: 10 }, () => queue.verify("right", "no hash", { isFirst: false }));
  for (const { status } of await Promise.allSettled(broken)) expect(status).toBe("rejected");
  expect(await queue.verify("right", CHEAP_HASH, { isFirst: false })).toBe(true);
});
