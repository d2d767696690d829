/** Temporary credentials for the bucket, from stubs of AWS's endpoints. The bucket is a real S3-compatible server. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCredentials } from "../../../shared/artifacts/credentials.ts";
import { openArtifactStore } from "../../../shared/artifacts/open_store.ts";
import { ArtifactStorageError } from "../../../shared/artifacts/store.ts";
import { startS3Server } from "../../helpers/network/s3_server.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function serve(respond: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: respond });
  return {
    url: `http://127.0.0.1:${server.port}/credentials`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const credentialsJson = (token: string, expiresAt: number) =>
  Response.json({
    AccessKeyId: "S3RVER",
    SecretAccessKey: "S3RVER",
    Token: token,
    Expiration: new Date(expiresAt).toISOString(),
  });

const container = (url: string) => ({ type: "container", url, token: null, tokenFile: null }) as const;

test("concurrent calls share one fetch of credentials, and new credentials are fetched before the old ones expire", async () => {
  let time = Date.now();
  let fetches = 0;
  await using endpoint = serve(() => {
    fetches += 1;
    return credentialsJson(`token-${fetches}`, time + 60 * MINUTE_MS);
  });
  const get = openCredentials(container(endpoint.url), () => time);
  const all = await Promise.all([get(MINUTE_MS), get(MINUTE_MS), get(MINUTE_MS)]);
  expect(all.map(({ sessionToken }) => sessionToken)).toEqual(["token-1", "token-1", "token-1"]);
  time += 50 * MINUTE_MS;
  expect((await get(5 * MINUTE_MS)).sessionToken).toBe("token-1");
  time += 6 * MINUTE_MS;
  expect((await get(5 * MINUTE_MS)).sessionToken).toBe("token-2");
  expect(fetches).toBe(2);
});

test("if the endpoint fails, the current credentials stay in use until they expire", async () => {
  let time = Date.now();
  let fetches = 0;
  await using endpoint = serve(() => {
    fetches += 1;
    return fetches === 1
      ? credentialsJson("first", time + 10 * MINUTE_MS)
      : new Response("", { status: 500 });
  });
  const get = openCredentials(container(endpoint.url), () => time);
  await get(0);
  time += 8 * MINUTE_MS;
  for (let call = 0; call < 3; call += 1) expect((await get(5 * MINUTE_MS)).sessionToken).toBe("first");
  expect(fetches).toBe(2);
  time += 3 * MINUTE_MS;
  await expect(get(0)).rejects.toThrow(
    `cannot get credentials from ${endpoint.url}: it responded with status 500`,
  );
});

test("bucket requests send the current session token, and fail if expired credentials cannot be replaced", async () => {
  await using s3 = await startS3Server();
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-credentials-"));
  let valid = "token-1";
  // The credentials are already expired, so each request needs new ones.
  await using endpoint = serve(() => credentialsJson(valid, Date.now()));
  await using guard = serve(async (request) => {
    const { pathname, search, searchParams } = new URL(request.url);
    const { method, headers } = request;
    const token = headers.get("x-amz-security-token") ?? searchParams.get("X-Amz-Security-Token");
    if (token !== valid) return new Response("<Error><Code>ExpiredToken</Code></Error>", { status: 403 });
    const body = method === "GET" || method === "HEAD" ? {} : { body: await request.arrayBuffer() };
    return fetch(`${s3.config.s3.endpoint}${pathname}${search}`, { method, headers, ...body });
  });
  const config = {
    endpoint: new URL(guard.url).origin,
    region: "us-east-1",
    credentials: container(endpoint.url),
  };
  const store = openArtifactStore({ artifactUrl: s3.config.artifactUrl, s3: config, dataDir });
  for (valid of ["token-1", "token-2"]) {
    await store.replaceMarker(valid);
    expect(await store.readMarker()).toBe(valid);
    expect(await store.exists("none.zip")).toBe(false);
  }
  await endpoint[Symbol.asyncDispose]();
  expect(await store.readMarker().catch((error: unknown) => error)).toBeInstanceOf(ArtifactStorageError);
  await rm(dataDir, { recursive: true });
});

test("fetching credentials from a silent endpoint times out", async () => {
  const gone = Promise.withResolvers<Response>();
  await using endpoint = serve(() => gone.promise);
  const get = openCredentials(container(endpoint.url));
  await expect(get(0)).rejects.toThrow(
    `cannot get credentials from ${endpoint.url}: The operation timed out`,
  );
  gone.resolve(new Response());
});

test("the endpoint receives the token from the file, and errors reveal neither the token nor the response body", async () => {
  const tokenFile = join(tmpdir(), `ulr-token-${crypto.randomUUID()}`);
  await using endpoint = serve((request) =>
    request.headers.get("authorization") === "secret-1"
      ? credentialsJson("t", Date.now() + DAY_MS)
      : Response.json({ secret: "hunter2" }),
  );
  const get = openCredentials({ ...container(endpoint.url), tokenFile });
  await expect(get(0)).rejects.toThrow(`cannot read ${tokenFile}`);
  await Bun.write(tokenFile, "hunter2\n");
  const error = await get(0).catch(String);
  expect(error).toContain("its response lacks AccessKeyId, SecretAccessKey or Expiration");
  expect(error).not.toContain("hunter2");
  await Bun.write(tokenFile, "secret-1\n");
  expect((await get(0)).sessionToken).toBe("t");
  await rm(tokenFile);
});

test("the web identity token file is read again for each exchange at STS", async () => {
  const tokenFile = join(tmpdir(), `ulr-identity-${crypto.randomUUID()}`);
  await Bun.write(tokenFile, "identity-1\n");
  let time = Date.now();
  const forms: Record<string, string>[] = [];
  await using sts = serve(async (request) => {
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    forms.push(form);
    if (form["WebIdentityToken"] === "wrong") {
      const xml = "<ErrorResponse><Error><Code>InvalidIdentityToken</Code></Error></ErrorResponse>";
      return new Response(xml, { status: 400 });
    }
    return new Response(
      `<AssumeRoleWithWebIdentityResponse><Credentials><AccessKeyId>id</AccessKeyId>` +
        `<SecretAccessKey>a/b+c=</SecretAccessKey><SessionToken>for-${form["WebIdentityToken"]}</SessionToken>` +
        `<Expiration>${new Date(time + 60 * MINUTE_MS).toISOString()}</Expiration></Credentials>` +
        `</AssumeRoleWithWebIdentityResponse>`,
    );
  });
  const source = { tokenFile, roleArn: "arn:aws:iam::1:role/ulr", sessionName: "ulr", stsUrl: sts.url };
  const get = openCredentials({ type: "webIdentity", ...source }, () => time);
  expect(await get(0)).toMatchObject({
    accessKeyId: "id",
    secretAccessKey: "a/b+c=",
    sessionToken: "for-identity-1",
  });
  expect(forms[0]).toMatchObject({ Action: "AssumeRoleWithWebIdentity", RoleArn: source.roleArn });
  await Bun.write(tokenFile, "identity-2\n");
  time += 61 * MINUTE_MS;
  expect((await get(0)).sessionToken).toBe("for-identity-2");
  await Bun.write(tokenFile, "wrong\n");
  time += 61 * MINUTE_MS;
  await expect(get(0)).rejects.toThrow("it responded with status 400 (InvalidIdentityToken)");
  await rm(tokenFile);
});
