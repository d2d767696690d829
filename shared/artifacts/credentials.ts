/**
 * Credentials for the bucket: fixed credentials, or temporary credentials of an AWS role, which are replaced before they
 * expire.
 */
import { httpFetch } from "../network/http_fetch.ts";
import type { S3CredentialSource } from "../process/s3_config.ts";
import { readSecretFile } from "../process/variable_files.ts";
import { textOf } from "./s3_xml.ts";

const FETCH_TIMEOUT_MS = 5_000;
/** The pause between requests for new credentials while the current credentials are valid. */
const FETCH_PAUSE_MS = 30_000;
const ROLE_SESSION_SECONDS = 3_600;

export interface BucketCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
  /** Milliseconds since the epoch; infinite for fixed credentials. */
  expiresAt: number;
}

/**
 * Opens a source of credentials. Sends no request until credentials are needed. The returned function returns the same object
 * until the credentials are replaced. They are valid for `minLifeMs` if possible. The function throws if there are no valid
 * credentials and the source fails or does not respond within five seconds.
 */
export function openCredentials(
  source: S3CredentialSource,
  now: () => number = Date.now,
): (minLifeMs: number) => Promise<BucketCredentials> {
  let current: BucketCredentials | null = null;
  let pending: Promise<BucketCredentials> | null = null;
  let nextFetchAt = 0;
  const hasLife = (ms: number): boolean => current !== null && current.expiresAt - now() > ms;

  async function replace(): Promise<BucketCredentials> {
    nextFetchAt = now() + FETCH_PAUSE_MS;
    try {
      current = await load(source);
    } catch (error) {
      if (!current || !hasLife(0)) throw error;
    }
    return current;
  }

  return async (minLifeMs) => {
    if (current && (hasLife(minLifeMs) || (hasLife(0) && now() < nextFetchAt))) return current;
    pending ??= replace().finally(() => {
      pending = null;
    });
    return await pending;
  };
}

async function load(source: S3CredentialSource): Promise<BucketCredentials> {
  if (source.type === "static") return { ...source, expiresAt: Number.POSITIVE_INFINITY };
  const { origin, pathname } = new URL(source.type === "container" ? source.url : source.stsUrl);
  try {
    return source.type === "container" ? await loadFromContainer(source) : await loadFromSts(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot get credentials from ${origin}${pathname}: ${reason}`, { cause: error });
  }
}

async function loadFromContainer(source: S3CredentialSource & { type: "container" }) {
  const token = source.tokenFile === null ? source.token : readToken(source.tokenFile);
  const text = await request(source.url, token === null ? {} : { headers: { Authorization: token } });
  const fields: unknown = JSON.parse(text);
  return parseCredentials((name) => {
    const value = (fields as Record<string, unknown> | null)?.[name === "SessionToken" ? "Token" : name];
    return typeof value === "string" ? value : null;
  });
}

/** Implements https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html. */
async function loadFromSts(source: S3CredentialSource & { type: "webIdentity" }) {
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: source.roleArn,
    RoleSessionName: source.sessionName,
    DurationSeconds: String(ROLE_SESSION_SECONDS),
    WebIdentityToken: readToken(source.tokenFile),
  });
  const text = await request(source.stsUrl, { method: "POST", body });
  return parseCredentials((name) => textOf(text, name));
}

/** Reads the file on each call, because the issuer replaces the token. */
function readToken(path: string): string {
  try {
    return readSecretFile(path).trim();
  } catch (error) {
    throw new Error(`cannot read ${path}: ${error instanceof Error ? error.message : error}`);
  }
}

async function request(url: string, init: RequestInit): Promise<string> {
  const response = await httpFetch(url, {
    ...init,
    ...{ redirect: "error", headersMs: FETCH_TIMEOUT_MS, idleMs: FETCH_TIMEOUT_MS },
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.ok) return text;
  const code = textOf(text, "Code");
  throw new Error(`it responded with status ${response.status}${code ? ` (${code})` : ""}`);
}

function parseCredentials(get: (name: string) => string | null): BucketCredentials {
  const accessKeyId = get("AccessKeyId");
  const secretAccessKey = get("SecretAccessKey");
  const sessionToken = get("SessionToken") ?? null;
  const expiresAt = Date.parse(get("Expiration") ?? "");
  if (!accessKeyId || !secretAccessKey || Number.isNaN(expiresAt)) {
    throw new Error("its response lacks AccessKeyId, SecretAccessKey or Expiration");
  }
  return { accessKeyId, secretAccessKey, sessionToken, expiresAt };
}
