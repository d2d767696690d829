import { expect, test } from "bun:test";
import { decodeCursor, encodeCursor } from "../../../../api/events/events.ts";

const KEY = Buffer.alloc(16, 7);

test("a cursor encodes its position", () => {
  for (const position of [0, 1, 722, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    const cursor = encodeCursor(KEY, position);
    expect(cursor).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(decodeCursor(KEY, cursor)).toBe(position);
  }
});

test("cursors for the same position differ, so that they do not reveal whether an event has happened", () => {
  const cursors = Array.from({ length: 100 }, () => encodeCursor(KEY, 722));
  // The random bytes of two cursors collide in about one of a million runs of this test.
  expect(new Set(cursors).size).toBe(100);
  expect(new Set(cursors.map((cursor) => decodeCursor(KEY, cursor)))).toEqual(new Set([722]));
});

test("a cursor from an earlier release, without random bytes, remains valid", () => {
  expect(decodeCursor(KEY, "auj2Jw4KoLN8jZzgZieBgg")).toBe(722);
});

test("a modified cursor and a cursor from another database are invalid", () => {
  const cursor = encodeCursor(KEY, 722);
  expect(decodeCursor(Buffer.alloc(16, 8), cursor)).toBeNull();
  const other = (cursor.startsWith("A") ? "B" : "A") + cursor.slice(1);
  for (const changed of ["", "722", `${cursor}A`, cursor.slice(1), other, `${cursor}==`]) {
    expect([changed, decodeCursor(KEY, changed)]).toEqual([changed, null]);
  }
});
