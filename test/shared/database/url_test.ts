/** Parsing and validation of database URLs. No error message repeats a part of a URL. */
import { expect, test } from "bun:test";
import { parseDatabaseUrl, withAddress } from "../../../shared/database/url.ts";
import { readConfig } from "../../../shared/process/config.ts";

test("parseDatabaseUrl() percent-decodes a URL and applies libpq's defaults", () => {
  expect(parseDatabaseUrl("postgres://a%40b:p%2Fw%25@db.example/my%20db")).toEqual({
    hosts: ["db.example"],
    ports: [5432],
    socketPath: null,
    user: "a@b",
    password: "p/w%",
    database: "my db",
    tls: "prefer",
    targetSessionAttrs: null,
    settings: {},
  });
  const { hosts, user, password, database } = parseDatabaseUrl("postgresql://");
  expect({ hosts, user, password, database }).toEqual({
    hosts: ["localhost"],
    user: null,
    password: null,
    database: null,
  });
});

test("a URL can contain an IPv6 address, several hosts or a socket directory", () => {
  const address = (url: string) => {
    const { hosts, ports, socketPath, tls } = parseDatabaseUrl(url);
    return { hosts, ports, socketPath, tls };
  };
  expect(address("postgres://[::1]:5433/ulr")).toMatchObject({ hosts: ["::1"], ports: [5433] });
  expect(address("postgres://a:1,b/ulr?target_session_attrs=primary")).toMatchObject({
    hosts: ["a", "b"],
    ports: [1, 5432],
  });
  expect(address("postgres://u@%2Frun%2Fpostgresql:5433/ulr?sslmode=require")).toMatchObject({
    socketPath: "/run/postgresql/.s.PGSQL.5433",
    tls: false,
  });
});

test("session settings are percent-decoded, but a plus sign is not decoded to a space", () => {
  const { settings } = parseDatabaseUrl(
    "postgres://h/ulr?options=-c%20TimeZone%3D+02&search_path=ulr%2C%20public",
  );
  expect(settings).toEqual({ options: "-c TimeZone=+02", search_path: "ulr, public" });
});

const PROBLEMS: readonly [url: string, problem: string][] = [
  ["postgres://u:hidden@h:99999/ulr", "has a host or port that cannot be used"],
  ["postgres://u:hid/den@h/ulr", "has a host or port that cannot be used"],
  ["postgres://u:hidden%@h/ulr", "the password has a % that starts no percent-encoding"],
  ["postgres://u%zz:hidden@h/ulr", "the user name has a % that starts no percent-encoding"],
  ["postgres://u:hidden@%zz/ulr", "the host has a % that starts no percent-encoding"],
  ["postgres://u:hidden@h/%", "the database name has a % that starts no percent-encoding"],
  ["postgres://u:hidden@h/ulr?options=%", "the parameter options has a % that starts no percent-encoding"],
  ["postgres://u:x?hidden@h/ulr", "has a host or port that cannot be used"],
  ["postgres://h/ulr?hidden=1", "has an unknown parameter; supported are sslmode, sslrootcert,"],
  [
    "postgres://h/ulr?application_name=hidden",
    "the parameter application_name is not supported: the service",
  ],
  ["postgres://h/ulr?channel_binding=require", "the parameter channel_binding is not supported: use sslmode"],
  ["postgres://h/ulr?sslkey=hidden", "the parameter sslkey is not supported"],
  ["postgres://h/ulr?sslmode=verify-full&sslmode=disable", "has the parameter sslmode twice"],
  [
    "postgres://h/ulr?sslmode=allow",
    "sslmode must be one of disable, prefer, require, verify-ca, verify-full",
  ],
  ["postgres://h/ulr?sslmode=hidden", "sslmode must be one of"],
  ["postgres://h/ulr?sslmode=", "sslmode must be one of"],
  ["postgres://h/ulr?sslmode=verify-ca", "sslmode=verify-ca needs sslrootcert"],
  ["postgres://h/ulr?sslrootcert=/hidden", "sslrootcert verifies nothing without sslmode"],
  ["postgres://h/ulr?sslmode=require&sslrootcert=system", "sslrootcert=system needs sslmode=verify-full"],
  ["postgres://h/ulr?sslmode=verify-full&sslrootcert=/hidden", "sslrootcert must name a readable PEM file"],
  ["postgres://h/ulr?sslmode=verify-full&sslrootcert=/dev/null", "sslrootcert must name a readable PEM file"],
  ["postgres://a,10.0.0.1/ulr?sslmode=verify-full", "sslmode=verify-full with several hosts takes names"],
  ["postgres://a,%2Frun/ulr", "a socket must be the only host"],
  ["postgres://h/ulr?target_session_attrs=hidden", "target_session_attrs must be one of any, read-write"],
];

test("an invalid URL is reported in one line that names the variable and reveals no part of the value", () => {
  for (const [url, problem] of PROBLEMS) {
    for (const name of ["DATABASE_URL", "DATABASE_DIRECT_URL", "DATABASE_REPLICA_URL"]) {
      const result = readConfig({ DATABASE_URL: "postgres://localhost/ulr", [name]: url });
      const problems = result.ok ? [] : result.problems;
      expect([url, problems.length]).toEqual([url, 1]);
      expect(problems[0]).toStartWith(`${name}: ${problem}`);
      expect(problems[0]).not.toContain("hid");
      expect(problems[0]).not.toContain("\n");
    }
  }
});

test("withAddress() replaces only the hosts and ports of a URL", () => {
  const parsed = (url: string, host: string) => parseDatabaseUrl(withAddress(url, { host, port: 9700 }));
  const url =
    "postgresql://a%40b:p%2Fw%25@one.example,two.example:5433/my%20db?sslmode=require&search_path=public";
  expect(parsed(url, "node-3.internal")).toEqual({
    ...parseDatabaseUrl(url),
    hosts: ["node-3.internal"],
    ports: [9700],
  });
  expect(parsed("postgres://", "fd00::3")).toMatchObject({
    hosts: ["fd00::3"],
    ports: [9700],
    user: null,
    database: null,
  });
  expect(() => withAddress("mysql://one.example/db", { host: "two.example", port: 1 })).toThrow(
    "postgres://",
  );
});
