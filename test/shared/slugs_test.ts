import { expect, test } from "bun:test";
import { isAccountSlug, toSlug } from "../../shared/slugs.ts";

test.each([
  ["Checkout Service", "checkout-service"],
  ["  Crème -- Brûlée!  ", "creme-brulee"],
  ["ﬁle №5", "file-no5"],
  ["日本", "project"],
  ["", "project"],
  ["x".repeat(200), "x".repeat(60)],
  [`${"x".repeat(59)} y`, "x".repeat(59)],
])("toSlug() makes %j easy to type", (name, slug) => {
  expect(toSlug(name)).toBe(slug);
});

test("isAccountSlug() knows what the database takes", () => {
  expect(["a", "a-b_c.d", "0x"].every(isAccountSlug)).toBe(true);
  expect(["", "-a", "A", "a b", "ä", "a".repeat(64)].some(isAccountSlug)).toBe(false);
});
