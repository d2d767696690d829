/** Tests how each `sslmode` encrypts and verifies connections, with a real server and with servers that misbehave. */
import { expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { openPool } from "../../../../sql/connection/pool.ts";
import { openTlsServer } from "../../../helpers/postgres/tls_server.ts";

const UNVERIFIED = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
const WRONG_NAME = "ERR_TLS_CERT_ALTNAME_INVALID";

/** Returns whether the session is encrypted, or the error code if the connection fails. */
async function connect(url: string, query = ""): Promise<unknown> {
  const sql = openPool(`${url}${query}`, { applicationName: "test-tls", max: 1 });
  try {
    const [row] = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.["ssl"];
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  } finally {
    await sql.end({ timeout: 0 });
  }
}

test("encrypts and verifies like libpq in every sslmode", async () => {
  await using server = await openTlsServer();
  const { url } = server;
  const ca = `&sslrootcert=${server.authority}`;
  const other = `&sslrootcert=${server.otherAuthority}`;
  for (const query of ["", "?sslmode=disable", "?sslmode=prefer"]) {
    expect([query, await connect(url, query)]).toEqual([query, false]);
  }
  for (const query of ["?sslmode=require", `?sslmode=verify-full${ca}`]) {
    expect([query, await connect(url, query)]).toEqual([query, "TLS_NOT_SUPPORTED"]);
  }

  await server.install("IP:127.0.0.1");
  expect(await connect(url, "?sslmode=disable")).toBe(false);
  for (const query of ["", "?sslmode=prefer", "?sslmode=require", `?sslmode=prefer${other}`]) {
    expect([query, await connect(url, query)]).toEqual([query, true]);
  }
  for (const mode of ["require", "verify-ca", "verify-full"]) {
    expect([mode, await connect(url, `?sslmode=${mode}${ca}`)]).toEqual([mode, true]);
    expect([mode, await connect(url, `?sslmode=${mode}${other}`)]).toEqual([mode, UNVERIFIED]);
  }
  expect(await connect(url, "?sslmode=verify-full")).toBe(UNVERIFIED);
  const byName = url.replace("127.0.0.1", "localhost");
  const { port } = new URL(url);
  const severalNames = byName.replace(`:${port}`, `:1,localhost:${port}`);
  expect(await connect(byName, `?sslmode=verify-ca${ca}`)).toBe(true);
  expect(await connect(byName, `?sslmode=verify-full${ca}`)).toBe(WRONG_NAME);
  expect(await connect(severalNames, `?sslmode=verify-full${ca}`)).toBe(WRONG_NAME);

  await server.install("DNS:localhost");
  expect(await connect(byName, `?sslmode=verify-full${ca}`)).toBe(true);
  expect(await connect(severalNames, `?sslmode=verify-full${ca}`)).toBe(true);
  expect(await connect(url, `?sslmode=verify-full${ca}`)).toBe(WRONG_NAME);

  await server.install("DNS:localhost", { days: -1 });
  expect(await connect(byName, `?sslmode=verify-full${ca}`)).toBe("CERT_HAS_EXPIRED");

  await server.requireTls();
  expect(await connect(url)).toBe(true);
  expect(await connect(url, "?sslmode=disable")).toBe("28000");
});

/**
 * Starts a server that responds to the TLS request with `reply` and records the bytes that follow. If `reply` is empty, the server
 * closes the connection.
 */
async function openImpostor(reply: string) {
  const received: Buffer[] = [];
  const server = createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.on("data", (bytes) => {
        received.push(Buffer.from(bytes));
        socket.destroy();
      });
      if (reply === "") socket.destroy();
      else socket.write(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    url: `postgres://user:password@127.0.0.1:${port}/ulr`,
    received,
    [Symbol.dispose]: () => void server.close(),
  };
}

test("sends nothing to an attacker who strips TLS if sslmode requires TLS", async () => {
  for (const mode of ["require", "verify-full"]) {
    using impostor = await openImpostor("N");
    expect(await connect(impostor.url, `?sslmode=${mode}`)).toBe("TLS_NOT_SUPPORTED");
    expect(impostor.received).toEqual([]);
  }
});

test("reports a connection that breaks during the handshake as a connection error, without retrying in clear text", async () => {
  using closing = await openImpostor("");
  expect(await connect(closing.url, "?sslmode=require")).toBe("CONNECTION_CLOSED");
  using broken = await openImpostor("S");
  expect(await connect(broken.url, "?sslmode=prefer")).toBe("ECONNRESET");
  expect(Buffer.concat(broken.received).includes("user")).toBe(false);
});
