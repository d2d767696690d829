/** Starts that fail before they create anything. Each reason is one line, and the exit code is 1. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";
import { makeDataDirectory, startStack } from "../../../helpers/process/stack.ts";

test("a port in use is reported in one line that names the port", async () => {
  using directory = makeDataDirectory();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? String(address?.port) : "";
  try {
    const stack = await startStack(directory.path, { PORT: port });
    expect(await stack.exited).toBe(1);
    expect(stack.stderr()).toBe(
      `Cannot listen on 127.0.0.1:${port}: the port is taken. Set HOST or PORT to listen elsewhere.\n`,
    );
    expect(existsSync(join(directory.path, "postgres"))).toBe(false);
  } finally {
    server.close();
  }
});

test("an error names all invalid variables without their values", async () => {
  using directory = makeDataDirectory();
  const stack = await startStack(directory.path, {
    PORT: "99999",
    DATABASE_URL: "mysql://u:secret@h/d",
    LOG_LEVEL: "loud",
  });
  expect(await stack.exited).toBe(1);
  const lines = stack.stderr().trimEnd().split("\n");
  expect(lines.map((line) => line.split(":")[0]).toSorted()).toEqual(["DATABASE_URL", "LOG_LEVEL", "PORT"]);
  expect(stack.stderr()).not.toContain("secret");
  expect(existsSync(directory.path)).toBe(false);
});

test("DATABASE_DIRECT_URL is rejected if DATABASE_URL is not set", async () => {
  using directory = makeDataDirectory();
  const stack = await startStack(directory.path, { DATABASE_DIRECT_URL: "postgres://u:secret@h/d" });
  expect(await stack.exited).toBe(1);
  expect(stack.stderr()).toBe("DATABASE_DIRECT_URL: must not be set without DATABASE_URL\n");
});

test("a HOST that does not belong to this machine is reported in one line", async () => {
  using directory = makeDataDirectory();
  const stack = await startStack(directory.path, { HOST: "192.0.2.1" });
  expect(await stack.exited).toBe(1);
  expect(stack.stderr()).toBe(
    `Cannot listen on 192.0.2.1:${stack.port}: the address is not one of this machine. Set HOST or PORT to listen elsewhere.\n`,
  );
});

test("a DATA_DIR that cannot be created is reported in one line", async () => {
  const stack = await startStack("/dev/null/data");
  expect(await stack.exited).toBe(1);
  expect(stack.stderr()).toStartWith("Cannot use /dev/null/data: ENOTDIR: not a directory");
  expect(stack.stderr().trimEnd().split("\n")).toHaveLength(1);
});

test("with DATABASE_URL, no embedded database is created, and DATA_DIR is later rejected for another database", async () => {
  using directory = makeDataDirectory();
  await using db = await openTestDatabase();
  await (async () => {
    await using stack = await startStack(directory.path, { DATABASE_URL: db.url });
    await stack.ready();
    expect(existsSync(join(directory.path, "postgres"))).toBe(false);
    expect([...(await db.sql`select count(*) > 0 as found from users`)]).toEqual([{ found: true }]);
  })();
  // An embedded database would replace the credentials, and its job runner would never sweep the other database's exports.
  const { host, pathname } = new URL(db.url);
  const stack = await startStack(directory.path);
  expect(await stack.exited).toBe(1);
  const reason = `it has exports and credentials of "${host}${pathname}"`;
  expect(stack.stderr()).toStartWith(`Cannot use ${directory.path} for "embedded": ${reason}. Set DATA_DIR`);
});
