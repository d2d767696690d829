/** A full log disk stops no process. Lost lines are counted, and the count is logged once there is space again. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { spawnService } from "../helpers/process/service_process.ts";
import { mountSmallDisk } from "../helpers/process/small_disk.ts";
import { waitFor } from "../helpers/wait_for.ts";

test("while its log disk is full, an API serves requests and counts lost lines, and later logs the count", async () => {
  await using db = await openTestDatabase();
  await using disk = mountSmallDisk(1);
  const path = join(disk.directory, "api.log");
  const env = { DATABASE_URL: db.url, DATA_DIR: disk.directory, PORT: "0", METRICS_PORT: "0" };
  // A shell redirects the log to the file.
  await using api = spawnService("api", env, ["bash", "-c", 'exec "$@" >"$0"', path]);
  const readLines = () => readFileSync(path, { encoding: "utf8", flag: "a+" }).split("\n").slice(0, -1);
  const findPort = (message: string) =>
    waitFor(() => {
      const line = readLines().find((text) => text.includes(`"message":"${message}"`));
      return line === undefined ? null : Number(JSON.parse(line).port);
    });
  const url = `http://127.0.0.1:${await findPort("listening")}/api/v1/models?limit=1`;
  const metricsUrl = `http://127.0.0.1:${await findPort("serving metrics")}/metrics`;
  const countLost = async () =>
    Number(/^log_lines_dropped_total (\d+)$/m.exec(await (await fetch(metricsUrl)).text())?.[1]);
  expect(await countLost()).toBe(0);
  disk.fill();
  const readStatus = async () => (await fetch(url)).status;
  await waitFor(async () => (await readStatus()) === 200 && (await countLost()) > 2);
  const before = await countLost();
  disk.free();
  expect(await readStatus()).toBe(200);
  const recovered = await waitFor(() => readLines().find((line) => line.includes("log.lines_dropped")));
  expect(JSON.parse(recovered).lines).toBeGreaterThanOrEqual(before);
  expect(JSON.parse(recovered).lines).toBe(await countLost());
  // Only the line that was being written when the disk became full may be truncated.
  const broken = readLines().filter((line) => {
    try {
      return typeof JSON.parse(line) !== "object";
    } catch {
      return true;
    }
  });
  expect(broken.length).toBeLessThanOrEqual(1);
  api.kill("SIGTERM");
  expect(await api.exited).toBe(0);
});

test("an API keeps serving requests after the reader of its log pipe exits", async () => {
  await using db = await openTestDatabase();
  await using disk = mountSmallDisk(1);
  const env = { DATABASE_URL: db.url, DATA_DIR: disk.directory, PORT: "0" };
  const path = join(disk.directory, "first-lines");
  // The reader exits after the first lines.
  const script =
    'exec "$@" > >(while read -r line; do echo "$line" >>"$0"; [[ $line == *listening* ]] && exit; done)';
  await using api = spawnService("api", env, ["bash", "-c", script, path]);
  const line = await waitFor(() =>
    readFileSync(path, { encoding: "utf8", flag: "a+" })
      .split("\n")
      .find((text) => text.includes('"listening"')),
  );
  const url = `http://127.0.0.1:${JSON.parse(line).port}/api/v1/models?limit=1`;
  for (let n = 0; n < 5; n += 1) expect((await fetch(url)).status).toBe(200);
  api.kill("SIGTERM");
  expect(await api.exited).toBe(0);
});
