import { expect, test } from "bun:test";
import { readCookie, readCookies } from "../../../api/http/cookies.ts";

const HEADERS = new Headers({ cookie: "a=1; b=x=y==;  a = 2 ;aa=3;a; =4; __proto__=5" });

test("readCookies() returns all values of a cookie name, untruncated and trimmed", () => {
  expect(readCookies(HEADERS, "a")).toEqual(["1", "2"]);
  expect(readCookies(HEADERS, "b")).toEqual(["x=y=="]);
  expect(readCookies(HEADERS, "__proto__")).toEqual(["5"]);
  expect(readCookies(HEADERS, "A")).toEqual([]);
  expect(readCookies(new Headers(), "a")).toEqual([]);
});

test("readCookie() returns the first value, or null if the cookie is missing", () => {
  expect(readCookie(HEADERS, "a")).toBe("1");
  expect(readCookie(HEADERS, "c")).toBeNull();
});
