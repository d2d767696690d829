/** Runs the sample receiver in docs/webhooks.md exactly as printed. */
import { expect, test } from "bun:test";
import { sendDelivery } from "../../../../jobs/webhooks/send_delivery.ts";
import { openNetworks } from "../../../../shared/network/networks.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

async function readSample(): Promise<string> {
  const page = await Bun.file(new URL("../../../../docs/webhooks.md", import.meta.url)).text();
  const [, sample] = /```python\n(.*?)```/s.exec(page) ?? [];
  if (!sample) throw new Error("Cannot find the Python sample in docs/webhooks.md");
  return sample;
}

/** Returns a port that no process listens on. */
function freePort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = server;
  server.stop(true);
  if (port === undefined) throw new Error("Cannot find a free port");
  return port;
}

test("accepts each signed delivery once and rejects forged deliveries", async () => {
  const port = freePort();
  const receiver = Bun.spawn(["python3", "-c", await readSample()], {
    env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: SECRET },
    stdout: "pipe",
    stderr: "ignore",
  });
  try {
    const networks = openNetworks("127.0.0.1/32");
    const { signal } = new AbortController();
    const url = `http://127.0.0.1:${port}/hook`;
    const send = (id: string, name: string, secret = SECRET) =>
      sendDelivery(
        {
          id,
          url,
          secrets: [secret],
          payload: JSON.stringify({ type: "definition.published", data: { name } }),
          claimedAt: new Date().toISOString(),
        },
        { networks, signal },
      );
    const delivered = { responseStatus: 204, error: null, cause: null };
    const first = await waitFor(async () => {
      const result = await send("one", "a");
      return result.responseStatus === null ? null : result;
    });
    expect(first).toEqual(delivered);
    expect(await send("one", "a")).toEqual(delivered);
    expect(await send("two", "b", `whsec_${btoa("another secret of 24 byte")}`)).toMatchObject({
      responseStatus: 401,
    });
    expect(await send("three", "c")).toEqual(delivered);
    receiver.kill();
    expect(await new Response(receiver.stdout).text()).toBe(
      'definition.published {"name": "a"}\ndefinition.published {"name": "c"}\n',
    );
  } finally {
    receiver.kill();
  }
});
