/** A request to a bucket that does not respond. */
import { expect, test } from "bun:test";
import { openBucketRequests } from "../../../shared/artifacts/s3_requests.ts";

test("a timeout error names the request, bucket, endpoint, timeout and the variable to check", async () => {
  await using stack = new AsyncDisposableStack();
  const server = stack.adopt(
    Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Promise<Response>(() => {}) }),
    (silent) => silent.stop(true),
  );
  const endpoint = `http://127.0.0.1:${server.port}`;
  const credentials = {
    type: "static",
    accessKeyId: "id",
    secretAccessKey: "secret",
    sessionToken: null,
  } as const;
  const requests = openBucketRequests({ endpoint, region: "us-east-1", bucket: "exports", credentials });
  const sent = requests.send({ method: "PUT", key: "a/b.zip", body: "x", headersMs: 50 });
  expect(await sent.catch((error: Error) => error.message)).toBe(
    `Cannot use the artifact storage: cannot PUT "a/b.zip" in bucket "exports" at ${endpoint}: no response within 0.05 s. ` +
      "Check that ARTIFACT_URL leads to storage that can be reached",
  );
});
