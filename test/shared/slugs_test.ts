import { expect, test } from "bun:test";
import { isAccountSlug, isProjectSlug, slugCandidates, toSlug } from "../../shared/slugs.ts";

test.each([
  ["Checkout Service", "checkout-service"],
  ["  Crème -- Brûlée!  ", "creme-brulee"],
  ["ﬁle №5", "file-no5"],
  ["日本", "project"],
  ["", "project"],
  ["x".repeat(200), "x".repeat(60)],
  [`${"x".repeat(59)} y`, "x".repeat(59)],
])("toSlug(%j) returns %j", (name, slug) => {
  expect(toSlug(name)).toBe(slug);
});

test.each(["menu", "x".repeat(60), `${"x".repeat(57)} y`, "550e8400-e29b-41d4-a716-446655440000"])(
  "slugCandidates(%j) yields distinct, valid project slugs",
  (name) => {
    const found = slugCandidates(name).take(12).toArray();
    expect(found.filter(isProjectSlug)).toEqual(found);
    expect(new Set(found).size).toBe(12);
  },
);

test('isAccountSlug() accepts 1 to 63 characters from a-z, 0-9, ".", "_" and "-", but no leading "-"', () => {
  expect(["a", "a-b_c.d", "0x"].every(isAccountSlug)).toBe(true);
  expect(["", "-a", "A", "a b", "ä", "a".repeat(64)].some(isAccountSlug)).toBe(false);
});
