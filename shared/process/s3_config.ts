/** The configuration of the artifact bucket. */
import type { Environment } from "./config_variables.ts";

/** Credentials, or where temporary ones come from. */
export type S3CredentialSource =
  | { type: "static"; accessKeyId: string; secretAccessKey: string; sessionToken: string | null }
  /** An HTTP endpoint, as Amazon ECS and EKS Pod Identity have it. */
  | { type: "container"; url: string; token: string | null; tokenFile: string | null }
  /** A token file that AWS STS exchanges for the role's credentials, as EKS has it for service accounts. */
  | { type: "webIdentity"; tokenFile: string; roleArn: string; sessionName: string; stsUrl: string };

export interface S3Config {
  /** `null`: AWS itself. */
  endpoint: string | null;
  region: string;
  credentials: S3CredentialSource;
}

const ECS_ORIGIN = "http://169.254.170.2";
/** Hosts that AWS's own clients call without TLS: localhost, ECS and EKS. */
const PLAIN_HOSTS = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|169\.254\.170\.(2|23)|\[fd00:ec2::23\])$/;

type Variables = Partial<Environment>;

/** Returns what is wrong with the variables of the bucket, one line per variable. */
export function findS3Problems(variables: Variables): Map<string, string> {
  const problems = new Map<string, string>();
  if (!variables.ARTIFACT_URL?.startsWith("s3://")) return problems;
  const uri = variables.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (variables.S3_ACCESS_KEY_ID || variables.S3_SECRET_ACCESS_KEY || !hasRole(variables)) {
    for (const name of ["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"] as const) {
      if (!variables[name]) problems.set(name, `${name}: must be set when ARTIFACT_URL is an s3:// URL`);
    }
  } else if (variables.AWS_WEB_IDENTITY_TOKEN_FILE) {
    if (!variables.AWS_ROLE_ARN) {
      problems.set("AWS_ROLE_ARN", "AWS_ROLE_ARN: must be set with AWS_WEB_IDENTITY_TOKEN_FILE");
    }
  } else if (!variables.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI && uri && !isSafeUrl(uri)) {
    const name = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
    problems.set(name, `${name}: must be an https URL, or an http URL of a loopback, ECS or EKS address`);
  }
  return problems;
}

/**
 * Returns the settings of the bucket; null if artifacts are stored in a directory. Static keys come first, as in AWS's
 * clients.
 */
export function toS3Config(env: Environment): S3Config | null {
  if (!env.ARTIFACT_URL?.startsWith("s3://")) return null;
  return {
    endpoint: env.S3_ENDPOINT ?? null,
    region: env.S3_REGION,
    credentials: toCredentialSource(env),
  };
}

function toCredentialSource(env: Environment): S3CredentialSource {
  if (env.S3_ACCESS_KEY_ID || !hasRole(env)) {
    return {
      type: "static",
      accessKeyId: env.S3_ACCESS_KEY_ID ?? "",
      secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? "",
      sessionToken: env.S3_SESSION_TOKEN ?? null,
    };
  }
  if (env.AWS_WEB_IDENTITY_TOKEN_FILE) {
    return {
      type: "webIdentity",
      tokenFile: env.AWS_WEB_IDENTITY_TOKEN_FILE,
      roleArn: env.AWS_ROLE_ARN ?? "",
      sessionName: env.AWS_ROLE_SESSION_NAME,
      stsUrl: env.AWS_ENDPOINT_URL_STS ?? defaultStsUrl(env.S3_REGION),
    };
  }
  const relative = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  return {
    type: "container",
    url: relative ? ECS_ORIGIN + relative : (env.AWS_CONTAINER_CREDENTIALS_FULL_URI ?? ""),
    token: env.AWS_CONTAINER_AUTHORIZATION_TOKEN ?? null,
    tokenFile: env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE ?? null,
  };
}

function hasRole(variables: Variables): boolean {
  return Boolean(
    variables.AWS_WEB_IDENTITY_TOKEN_FILE ||
      variables.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI ||
      variables.AWS_CONTAINER_CREDENTIALS_FULL_URI,
  );
}

function defaultStsUrl(region: string): string {
  return `https://sts.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}

/** The response is a credential, and the request may carry a token. */
function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "https:" || (url?.protocol === "http:" && PLAIN_HOSTS.test(url.hostname));
}
