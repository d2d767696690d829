import { expect, test } from "bun:test";
import { ReaderPace, STREAM_RULES } from "../../../../../api/http/response/stream.ts";

const KIB = 1024;
const RULE = { slowWindowMs: 60_000, minBytesPerSecond: 16 * KIB, socketBytes: 0 };

/** Simulates a stream. Each chunk takes `makesMs` to produce and `takesMs` to read. Returns the end time. */
function read(
  pace: ReaderPace,
  { from = 0, chunks = 1, bytes = 64 * KIB, takesMs = 0, makesMs = 0 },
): number {
  let now = from;
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    now += makesMs;
    pace.offered(bytes, now);
    now += takesMs;
    pace.taken(now);
  }
  return now;
}

/** Each burst: the seconds without a read, then the KiB that are read at once. */
type Bursts = readonly (readonly [waitSeconds: number, kibibytes: number])[];

/**
 * Returns the seconds until a reader with these bursts counts as slow, or null if the reader never does. Checks every
 * 5 s.
 */
function slowAfter(bursts: Bursts): number | null {
  const pace = new ReaderPace(STREAM_RULES);
  let now = 0;
  for (const [waitSeconds, kibibytes] of bursts) {
    pace.offered(256 * KIB, now);
    for (let waited = 0; waited <= waitSeconds; waited += 5) {
      if (pace.isSlow(now + waited * 1000)) return now / 1000 + waited;
    }
    now += waitSeconds * 1000;
    pace.taken(now);
    read(pace, { from: now, chunks: kibibytes / 256 - 1, bytes: 256 * KIB });
  }
  return null;
}

function repeat(times: number, burst: Bursts[number]): Bursts {
  return Array.from({ length: times }, () => burst);
}

test("a reader that reads nothing is slow after one window", () => {
  const pace = new ReaderPace(RULE);
  const now = read(pace, { chunks: 100, takesMs: 10 });
  pace.offered(64 * KIB, now);
  expect([pace.isSlow(now + 59_000), pace.isSlow(now + 60_000)]).toEqual([false, true]);
});

test("a reader that takes nine minutes per chunk is slow, whatever it read before", () => {
  const pace = new ReaderPace(RULE);
  const now = read(pace, { chunks: 3, bytes: 4_000 * KIB, takesMs: 540_000 });
  pace.offered(64 * KIB, now);
  expect(pace.isSlow(now + 61_000)).toBe(true);
});

test("the minimum rate is 16 KiB/s", () => {
  for (const [takesMs, isSlow] of [
    [3_900, false],
    [4_100, true],
  ] as const) {
    const pace = new ReaderPace(RULE);
    const fast = read(pace, { chunks: 500, takesMs: 1 });
    const now = read(pace, { from: fast, chunks: 700, takesMs });
    expect([takesMs, pace.isSlow(now)]).toEqual([takesMs, isSlow]);
  }
});

test("time in which there is no data to read does not count", () => {
  const pace = new ReaderPace(RULE);
  const now = read(pace, { chunks: 20, bytes: KIB, takesMs: 1, makesMs: 60_000 });
  expect(pace.isSlow(now + 600_000)).toBe(false);
});

test("a slow reader is no longer slow once it reads enough", () => {
  const pace = new ReaderPace(RULE);
  const slow = read(pace, { chunks: 10, takesMs: 30_000 });
  expect(pace.isSlow(slow)).toBe(true);
  const now = read(pace, { from: slow, chunks: 3_000, takesMs: 100 });
  expect(pace.isSlow(now)).toBe(false);
});

// The bursts were measured on sockets of one Linux machine. `slowAfter()` applies the production rules.
test.each<[reader: string, bursts: Bursts]>([
  ["a socket of 20 KiB/s", [[0, 4_608], ...repeat(50, [69, 1_380])]],
  ["64 MiB at once, then 24 KiB/s", [[0, 64_626], [85, 3_419], ...repeat(50, [93, 2_232])]],
])("a reader above the minimum rate is not slow, even if its socket reads in bursts: %s", (_, bursts) => {
  expect(slowAfter(bursts)).toBeNull();
});

test.each<[reader: string, bursts: Bursts, withinSeconds: number]>([
  [
    "nothing more",
    [
      [0, 4_608],
      [3_600, 256],
    ],
    100,
  ],
  ["a socket of 8 KiB/s", [[0, 4_608], ...repeat(20, [174, 1_277])], 200],
  ["curl --limit-rate 8K", [[0, 4_608], [144, 1_024], ...repeat(20, [202, 1_367])], 250],
])("a reader at half the minimum rate or less soon becomes slow: %s", (_, bursts, withinSeconds) => {
  const seconds = slowAfter(bursts) ?? Number.POSITIVE_INFINITY;
  expect(seconds).toBeGreaterThan(60);
  expect(seconds).toBeLessThanOrEqual(withinSeconds);
});
