/** The configuration of the artifact bucket. */
import type { Environment } from "./config_variables.ts";

/** Static credentials, or the source of temporary credentials. */
export type S3CredentialSource =
  | { type: "static"; accessKeyId: string; secretAccessKey: string; sessionToken: string | null }
  /** An HTTP endpoint, as provided by Amazon ECS and EKS Pod Identity. */
  | { type: "container"; url: string; token: string | null; tokenFile: string | null }
  /** A token file that AWS STS exchanges for the role's credentials, as provided by EKS for service accounts. */
  | { type: "webIdentity"; tokenFile: string; roleArn: string; sessionName: string; stsUrl: string };

export interface S3Config {
  /** The S3 endpoint; `null` for AWS. */
  endpoint: string | null;
  region: string;
  credentials: S3CredentialSource;
}

const ECS_ORIGIN = "http://169.254.170.2";
/** Hosts that AWS's own clients access without TLS: localhost, ECS and EKS. */
const PLAIN_HOSTS = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|169\.254\.170\.(2|23)|\[fd00:ec2::23\])$/;

/** Reports the problem with a variable. */
export type ReportProblem = (name: string, problem: string) => void;

/**
 * Returns the settings of the bucket; null if artifacts are stored in a directory. If a problem is reported, the settings
 * cannot be used.
 */
export function readS3Config(env: Environment, report: ReportProblem): S3Config | null {
  if (!env.ARTIFACT_URL?.startsWith("s3://")) return null;
  return {
    endpoint: env.S3_ENDPOINT ?? null,
    region: env.S3_REGION,
    credentials: readCredentialSource(env, report),
  };
}

/** Returns the source of the credentials. Static keys take precedence, as in AWS's clients. */
function readCredentialSource(env: Environment, report: ReportProblem): S3CredentialSource {
  const readRequired = (
    name: "S3_ACCESS_KEY_ID" | "S3_SECRET_ACCESS_KEY" | "AWS_ROLE_ARN",
    reason: string,
  ) => {
    const value = env[name];
    if (!value) report(name, `must be set ${reason}`);
    return value ?? "";
  };
  const tokenFile = env.AWS_WEB_IDENTITY_TOKEN_FILE;
  const path = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const url = path ? ECS_ORIGIN + path : env.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (env.S3_ACCESS_KEY_ID || env.S3_SECRET_ACCESS_KEY || (!tokenFile && !url)) {
    const reason = "when ARTIFACT_URL is an s3:// URL";
    return {
      type: "static",
      accessKeyId: readRequired("S3_ACCESS_KEY_ID", reason),
      secretAccessKey: readRequired("S3_SECRET_ACCESS_KEY", reason),
      sessionToken: env.S3_SESSION_TOKEN ?? null,
    };
  }
  if (tokenFile) {
    return {
      type: "webIdentity",
      tokenFile,
      roleArn: readRequired("AWS_ROLE_ARN", "with AWS_WEB_IDENTITY_TOKEN_FILE"),
      sessionName: env.AWS_ROLE_SESSION_NAME,
      stsUrl: env.AWS_ENDPOINT_URL_STS ?? defaultStsUrl(env.S3_REGION),
    };
  }
  if (!path && !isSafeUrl(url ?? "")) {
    const problem = "must be an https URL, or an http URL of a loopback, ECS or EKS address";
    report("AWS_CONTAINER_CREDENTIALS_FULL_URI", problem);
  }
  return {
    type: "container",
    url: url ?? "",
    token: env.AWS_CONTAINER_AUTHORIZATION_TOKEN ?? null,
    tokenFile: env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE ?? null,
  };
}

function defaultStsUrl(region: string): string {
  return `https://sts.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}

/**
 * Returns true if the URL is protected from interception. The response contains credentials, and the request may contain a
 * token.
 */
function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "https:" || (url?.protocol === "http:" && PLAIN_HOSTS.test(url.hostname));
}
