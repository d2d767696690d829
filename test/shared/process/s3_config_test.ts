/** The source of the bucket's credentials, depending on the variables that are set. */
import { expect, test } from "bun:test";
import { readConfig } from "../../../shared/process/config.ts";

const BUCKET = {
  DATABASE_URL: "postgres://db/app",
  ARTIFACT_URL: "s3://my-bucket",
  S3_REGION: "eu-central-1",
};
const KEYS = { S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "secret" };
const WEB_IDENTITY = { AWS_WEB_IDENTITY_TOKEN_FILE: "/run/token", AWS_ROLE_ARN: "arn:aws:iam::1:role/ulr" };

function read(env: Readonly<Record<string, string>>) {
  const result = readConfig({ ...BUCKET, ...env });
  return result.ok ? result.config.s3?.credentials : result.problems;
}

test("access keys take precedence over a role's credentials, and may include a session token", () => {
  const fixed = { type: "static", accessKeyId: "id", secretAccessKey: "secret" } as const;
  expect(read({ ...KEYS, ...WEB_IDENTITY })).toEqual({ ...fixed, sessionToken: null });
  expect(read({ ...KEYS, S3_SESSION_TOKEN: "token" })).toEqual({ ...fixed, sessionToken: "token" });
});

test("a web identity token is exchanged at the region's STS, or at AWS_ENDPOINT_URL_STS", () => {
  const identity = {
    type: "webIdentity",
    tokenFile: "/run/token",
    roleArn: "arn:aws:iam::1:role/ulr",
    sessionName: "ulr",
  } as const;
  expect(read(WEB_IDENTITY)).toEqual({ ...identity, stsUrl: "https://sts.eu-central-1.amazonaws.com" });
  expect(read({ ...WEB_IDENTITY, S3_REGION: "cn-north-1" })).toEqual({
    ...identity,
    stsUrl: "https://sts.cn-north-1.amazonaws.com.cn",
  });
  expect(read({ ...WEB_IDENTITY, AWS_ENDPOINT_URL_STS: "http://127.0.0.1:4566" })).toMatchObject({
    stsUrl: "http://127.0.0.1:4566",
  });
});

test("the container credentials endpoint is a path on the ECS host or a full URL", () => {
  expect(read({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/v2/credentials/x" })).toEqual({
    type: "container",
    url: "http://169.254.170.2/v2/credentials/x",
    token: null,
    tokenFile: null,
  });
  const eks = "http://169.254.170.23/v1/credentials";
  const tokenFile = "/var/run/secrets/token";
  const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: eks, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile };
  expect(read(env)).toEqual({ type: "container", url: eks, token: null, tokenFile });
});

test("a credentials URL that would send the token unencrypted to another machine is rejected", () => {
  for (const url of [
    "http://credentials.example/x",
    "http://169.254.169.254/x",
    "http://127.0.0.1.example/",
  ]) {
    expect(read({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url })).toEqual([
      "AWS_CONTAINER_CREDENTIALS_FULL_URI: must be an https URL, or an http URL of a loopback, ECS or EKS address",
    ]);
  }
});

test("setting only one of two variables that belong together is rejected", () => {
  expect(read({ S3_ACCESS_KEY_ID: "id", ...WEB_IDENTITY })).toEqual([
    "S3_SECRET_ACCESS_KEY: must be set when ARTIFACT_URL is an s3:// URL",
  ]);
  expect(read({ AWS_WEB_IDENTITY_TOKEN_FILE: "/run/token" })).toEqual([
    "AWS_ROLE_ARN: must be set with AWS_WEB_IDENTITY_TOKEN_FILE",
  ]);
});
