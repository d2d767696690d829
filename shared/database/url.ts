/** Parses a PostgreSQL URL as libpq does: percent-encoded, with one or several hosts, or with a socket directory. */
import { DatabaseUrlError, openTls, type Tls } from "./tls.ts";

export interface DatabaseTarget {
  /** The hosts in the order of connection attempts. `ports` has the same order. */
  hosts: string[];
  ports: number[];
  /** The path of the server's Unix socket, which replaces host and port; null for TCP. */
  socketPath: string | null;
  user: string | null;
  password: string | null;
  database: string | null;
  tls: Tls;
  targetSessionAttrs: SessionAttributes | null;
  /** Settings that every session gets. */
  settings: Record<string, string>;
}

export interface ServerAddress {
  host: string;
  port: number;
}

const URL_PARTS = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/s;
const HOST_AND_PORT = /^(\[[^\]]+\]|[^:]*)(?::(\d{0,5}))?$/;
const DEFAULT_PORT = 5432;
const MAX_PORT = 65_535;

const SETTINGS = ["options", "search_path"];
const SUPPORTED = new Set(["sslmode", "sslrootcert", "target_session_attrs", ...SETTINGS]);
const SESSION_ATTRIBUTES = ["read-write", "read-only", "primary", "standby", "prefer-standby"] as const;
type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

const WRITE_IN_URL = "write it into the URL itself: postgres://user:password@host:port/database";
const NO_CLIENT_CERTIFICATES = "client certificates are not supported; use a password";
/** The reasons why parameters of libpq or hosting services are not supported. Any other name may be part of a password. */
const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ["application_name", "the service sets its own names, which tell its sessions from the tracker's"],
  ["channel_binding", "use sslmode=verify-full against interceptors"],
  ["connect_timeout", "it is always 10 seconds"],
  ["connection_limit", "set DATABASE_POOL_MAX"],
  ["dbname", WRITE_IN_URL],
  ["gssencmode", "remove it: the service never uses GSSAPI"],
  ["host", `${WRITE_IN_URL}; the directory of a socket percent-encoded in place of the host`],
  ["hostaddr", WRITE_IN_URL],
  ["password", WRITE_IN_URL],
  ["pgbouncer", "set DATABASE_DIRECT_URL to an address of PostgreSQL itself"],
  ["port", WRITE_IN_URL],
  ["schema", "use search_path"],
  ["ssl", "use sslmode"],
  ["sslcert", NO_CLIENT_CERTIFICATES],
  ["sslkey", NO_CLIENT_CERTIFICATES],
  ["sslnegotiation", "remove it: PostgreSQL accepts the default"],
  ["user", WRITE_IN_URL],
]);

/** Parses a URL, and reads the file of its `sslrootcert`. Throws DatabaseUrlError, whose message contains no part of the URL. */
export function parseDatabaseUrl(text: string): DatabaseTarget {
  const [, credentials = "", authority = "", database = "", query = ""] = URL_PARTS.exec(text) ?? [];
  if (!URL_PARTS.test(text))
    throw new DatabaseUrlError("must be postgres://user:password@host:port/database");
  const addresses = authority.split(",").map(parseAddress);
  const hosts = addresses.map(({ host }) => host);
  const parameters = parseQuery(query);
  const colon = credentials.indexOf(":");
  const [user, password] =
    colon < 0 ? [credentials, ""] : [credentials.slice(0, colon), credentials.slice(colon + 1)];
  const socketPath = findSocket(addresses);
  const tls = openTls({
    mode: parameters.get("sslmode") ?? null,
    rootCert: parameters.get("sslrootcert") ?? null,
    hosts,
  });
  return {
    hosts,
    ports: addresses.map(({ port }) => port),
    socketPath,
    user: decode(user, "the user name") || null,
    password: decode(password, "the password") || null,
    database: decode(database, "the database name") || null,
    // As in libpq, a Unix socket uses no TLS, because it cannot be intercepted.
    tls: socketPath === null ? tls : false,
    targetSessionAttrs: toSessionAttributes(parameters.get("target_session_attrs")),
    settings: Object.fromEntries([...parameters].filter(([name]) => SETTINGS.includes(name))),
  };
}

/** Returns the URL of the same database on another server. Throws if the URL is malformed. */
export function withAddress(url: string, { host, port }: ServerAddress): string {
  const parts = URL_PARTS.exec(url);
  if (!parts) throw new DatabaseUrlError("must be postgres://user:password@host:port/database");
  const [, credentials, , database, query] = parts;
  const name = host.includes(":") ? `[${host}]` : encodeURIComponent(host);
  return [
    "postgres://",
    ...(credentials === undefined ? [] : [credentials, "@"]),
    `${name}:${port}`,
    ...(database === undefined ? [] : ["/", database]),
    ...(query === undefined ? [] : ["?", query]),
  ].join("");
}

/** Returns the problem with a database URL, or null. The text contains no part of the URL. */
export function findDatabaseUrlProblem(text: string): string | null {
  try {
    parseDatabaseUrl(text);
    return null;
  } catch (error) {
    if (error instanceof DatabaseUrlError) return error.message;
    throw error;
  }
}

function parseAddress(text: string): ServerAddress {
  const [, host, digits] = HOST_AND_PORT.exec(text) ?? [];
  const port = Number(digits || DEFAULT_PORT);
  if (host === undefined || port < 1 || port > MAX_PORT) {
    throw new DatabaseUrlError(
      "has a host or port that cannot be used; percent-encode special characters of user and password",
    );
  }
  return { host: decode(host.replace(/^\[|\]$/g, ""), "the host") || "localhost", port };
}

function findSocket(addresses: readonly ServerAddress[]): string | null {
  const socket = addresses.find(({ host }) => host.startsWith("/"));
  if (!socket) return null;
  if (addresses.length > 1) throw new DatabaseUrlError("a socket must be the only host");
  return `${socket.host}/.s.PGSQL.${socket.port}`;
}

/** Parses the query of a database URL. Unlike in a form, `+` is a plus sign. */
function parseQuery(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query.split("&").filter(Boolean)) {
    const [name = "", ...rest] = pair.split("=");
    const problem = UNSUPPORTED.get(name);
    if (problem !== undefined) {
      throw new DatabaseUrlError(`the parameter ${name} is not supported: ${problem}`);
    }
    if (!SUPPORTED.has(name)) {
      throw new DatabaseUrlError(`has an unknown parameter; supported are ${[...SUPPORTED].join(", ")}`);
    }
    if (parameters.has(name)) throw new DatabaseUrlError(`has the parameter ${name} twice`);
    parameters.set(name, decode(rest.join("="), `the parameter ${name}`));
  }
  return parameters;
}

function toSessionAttributes(value: string | undefined): SessionAttributes | null {
  if (value === undefined || value === "any") return null;
  const known = SESSION_ATTRIBUTES.find((name) => name === value);
  if (known) return known;
  throw new DatabaseUrlError(`target_session_attrs must be one of any, ${SESSION_ATTRIBUTES.join(", ")}`);
}

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DatabaseUrlError(`${what} has a % that starts no percent-encoding; write it as %25`);
  }
}
