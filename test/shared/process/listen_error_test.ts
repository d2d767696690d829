/** Messages for listen errors, as thrown by Bun or with only an error code. */
import { expect, test } from "bun:test";
import { describeListenError } from "../../../shared/process/listen_error.ts";

function tryToListen(host: string, port: number): string {
  try {
    Bun.serve({ hostname: host, port, fetch: () => new Response() }).stop(true);
    return "listens";
  } catch (error) {
    return describeListenError({ host, port }, error);
  }
}

test("describeListenError() names the address and gives the reason for the error", () => {
  using taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const port = taken.port ?? 0;
  expect(tryToListen("127.0.0.1", port)).toBe(`Cannot listen on 127.0.0.1:${port}: the port is taken`);
  expect(tryToListen("192.0.2.1", 3000)).toBe(
    "Cannot listen on 192.0.2.1:3000: the address is not one of this machine",
  );
  expect(describeListenError({ host: "127.0.0.1", port: 80 }, { code: "EACCES" })).toBe(
    "Cannot listen on 127.0.0.1:80: this user may not use the port",
  );
  expect(describeListenError({ host: "127.0.0.1", port: 80 }, { code: "EMFILE" })).toBe(
    "Cannot listen on 127.0.0.1:80: EMFILE",
  );
});
