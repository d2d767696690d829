import { expect, test } from "bun:test";
import {
  changeTypeBetween,
  isVersion,
  nextMajor,
  nextPatch,
  versionBefore,
} from "../../../shared/definitions/version_numbers.ts";

test("isVersion() accepts three plain numbers with up to 15 digits each and 20 characters in total", () => {
  for (const text of ["0.0.0", "1.10.0", "999999999999999.0.0"])
    expect([text, isVersion(text)]).toEqual([text, true]);
  const others = ["", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-rc.1", "1.0.0+1", "v1.0.0", " 1.0.0", "1.0.x"];
  for (const text of [...others, "1000000000000000.0.0", "1000000000.1000000000.1"]) {
    expect([text, isVersion(text)]).toEqual([text, false]);
  }
});

test("changeTypeBetween() returns the highest part of the version that differs", () => {
  expect(changeTypeBetween(null, "1.2.3")).toBe("major");
  expect(changeTypeBetween("1.2.3", "2.2.3")).toBe("major");
  expect(changeTypeBetween("1.9.3", "1.10.0")).toBe("minor");
  expect(changeTypeBetween("1.9.3", "1.9.10")).toBe("patch");
});

test("versionBefore() returns the next lower version in numeric order", () => {
  const versions = ["0.1.0", "1.9.0", "1.10.0", "2.0.0"];
  expect(versionBefore("1.10.1", versions)).toBe("1.10.0");
  expect(versionBefore("1.10.0", versions)).toBe("1.9.0");
  expect(versionBefore("0.1.0", versions)).toBeNull();
  expect(versionBefore("9.0.0", versions)).toBe("2.0.0");
  expect(versionBefore("1.0.0", [])).toBeNull();
});

test("versionBefore() reads fewer than 20 of 10,000 versions", () => {
  const read = new Set<string | symbol>();
  const all = Array.from({ length: 10_000 }, (_, n) => `${Math.floor(n / 100)}.${n % 100}.0`);
  const versions = new Proxy(all, {
    get: (target, key) => {
      read.add(key);
      return Reflect.get(target, key);
    },
  });
  expect(versionBefore("50.0.0", versions)).toBe("49.99.0");
  expect(read.size).toBeLessThan(20);
});

test("nextPatch() and nextMajor() return an unused version, or null if no higher version is possible", () => {
  const versions = ["1.0.0", "1.0.9", "1.1.0", "3.4.5"];
  expect(nextPatch("1.0.0", versions)).toBe("1.0.10");
  expect(nextPatch("2.0.0", versions)).toBe("2.0.1");
  expect(nextMajor(versions)).toBe("4.0.0");
  expect(nextMajor([])).toBeNull();
  expect(nextMajor(["999999999999999.0.0"])).toBeNull();
  expect(nextPatch("0.0.999999999999999", [])).toBeNull();
});
