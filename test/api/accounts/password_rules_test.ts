import { expect, test } from "bun:test";
import {
  DUMMY_PASSWORD_HASH,
  hashPassword,
  passwordProblem,
  verifyPassword,
} from "../../../api/accounts/password_rules.ts";

const ANN = { username: "ann.lee", email: "Al77@mail.example" };

/** Returns the algorithm, version and cost parameters of a hash, such as `$argon2id$v=19$m=65536,t=2,p=1`. */
function costOf(passwordHash: string): string {
  return passwordHash.split("$", 4).join("$");
}

test("DUMMY_PASSWORD_HASH costs as much to verify as a new hash and matches no password", async () => {
  const passwordHash = await hashPassword("a password");
  expect(costOf(DUMMY_PASSWORD_HASH)).toBe(costOf(passwordHash));
  expect(DUMMY_PASSWORD_HASH).toHaveLength(passwordHash.length);
  for (const password of ["", "a password"]) {
    expect(await verifyPassword(password, DUMMY_PASSWORD_HASH)).toBe(false);
  }
});

test("no password matches an account without a password", async () => {
  for (const password of ["", "!", "a password"]) expect(await verifyPassword(password, "!")).toBe(false);
});

test("hashPassword() salts each hash, and verifyPassword() accepts only the hashed password", async () => {
  const [first, second] = [await hashPassword("a password"), await hashPassword("a password")];
  expect(first).toStartWith("$argon2id$");
  expect(first).not.toBe(second);
  expect(await verifyPassword("a password", first)).toBe(true);
  expect(await verifyPassword("A password", first)).toBe(false);
});

test("passwordProblem() refuses passwords of invalid length and, ignoring case, common passwords", () => {
  for (const password of ["", "short", "🐴🔋📎🪝", "a".repeat(1025)]) {
    expect(passwordProblem(password, ANN)).toBe("must have 8 to 1024 characters");
  }
  for (const password of [
    "password",
    "PassWord1",
    "12345678",
    " qwertyuiop ",
    "ｐａｓｓｗｏｒｄ",
    "iloveyou1",
  ]) {
    expect(passwordProblem(password, ANN)).toStartWith("is one of the 10,000 most common passwords");
  }
  for (const password of ["correct horse", "a".repeat(1024), "🐴".repeat(1024), "pass word 1 of mine"]) {
    expect(passwordProblem(password, ANN)).toBeNull();
  }
});

const OWN = "must not contain the username or the email address, or be part of one: choose another";

test("passwordProblem() refuses passwords that contain the username or the email address, ignoring case", () => {
  for (const password of [
    "ann.lee-2026",
    "my ANN.LEE!",
    "al77@mail.example",
    "x AL77@Mail.example",
    "ａｎｎ.ｌｅｅ-2026",
  ]) {
    expect([password, passwordProblem(password, ANN)]).toEqual([password, OWN]);
  }
  // A password may contain a two-letter username, because many words contain the same letters by chance. A password may also
  // contain the local part of the email address.
  expect(passwordProblem("kobalt lamp", { username: "ko", email: "la@mail.example" })).toBeNull();
});

test("passwordProblem() refuses passwords that are part of the username or the email address", () => {
  const owner = { username: "petra-lindqvist", email: "p.lindqvist@mail.example" };
  for (const password of ["lindqvist", "Petra-Lind", "p.lindqvist", "mail.example", " LINDQVIST "]) {
    expect([password, passwordProblem(password, owner)]).toEqual([password, OWN]);
  }
  for (const password of ["lindqvist9", "9lindqvist", "mail.example.org"]) {
    expect(passwordProblem(password, owner)).toBeNull();
  }
  // Trimming this password leaves an empty string, which must not count as part of the username.
  expect(passwordProblem("        ", owner)).toBeNull();
});
