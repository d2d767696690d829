/**
 * Converts `sslmode` and `sslrootcert` of a database URL to the driver's TLS options. The values have the same meaning as in
 * libpq.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";

/** The driver's TLS options. False means no TLS. "prefer" means TLS with any certificate if the server offers it. */
export type Tls = false | "prefer" | ConnectionOptions;

export interface TlsParameters {
  mode: string | null;
  rootCert: string | null;
  hosts: readonly string[];
}

const MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"];
/** The value of `sslrootcert` for the runtime's certificate authorities. */
const SYSTEM = "system";
const CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** Returns the driver's TLS options. Throws if a value, or a combination of values, cannot be used. */
export function openTls({ mode, rootCert, hosts }: TlsParameters): Tls {
  const effective = findMode(mode, rootCert);
  if (effective === "disable") return false;
  if (effective === "prefer") return "prefer";
  if (effective === "require" && rootCert === null) return { rejectUnauthorized: false };
  const ca = rootCert === null || rootCert === SYSTEM ? {} : { ca: readCertificates(rootCert) };
  if (effective !== "verify-full") {
    return { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
  }
  const [host = "", ...others] = hosts;
  if (others.length > 0 && hosts.some((name) => isIP(name))) {
    throw new DatabaseUrlError("sslmode=verify-full with several hosts takes names, not addresses");
  }
  return {
    ...ca,
    rejectUnauthorized: true,
    // If the host is an IP address, the driver does not pass a name to compare.
    checkServerIdentity: (name, certificate) =>
      checkServerIdentity(others.length > 0 ? name : host, certificate),
  };
}

/** Returns the effective mode. Throws if the mode and the root certificate cannot be used together. */
function findMode(mode: string | null, rootCert: string | null): string {
  if (mode === null && rootCert !== null && rootCert !== SYSTEM) {
    throw new DatabaseUrlError("sslrootcert verifies nothing without sslmode; add sslmode=verify-full");
  }
  const effective = mode ?? (rootCert === SYSTEM ? "verify-full" : "prefer");
  if (!MODES.includes(effective)) throw new DatabaseUrlError(`sslmode must be one of ${MODES.join(", ")}`);
  if (rootCert === SYSTEM && effective !== "verify-full") {
    throw new DatabaseUrlError("sslrootcert=system needs sslmode=verify-full");
  }
  if (effective === "verify-ca" && rootCert === null) {
    throw new DatabaseUrlError("sslmode=verify-ca needs sslrootcert");
  }
  return effective;
}

/** Reads the PEM certificates of a file. */
function readCertificates(path: string): string[] {
  try {
    const certificates = readFileSync(path, "utf8").match(CERTIFICATE) ?? [];
    for (const certificate of certificates) new X509Certificate(certificate);
    if (certificates.length > 0) return [...certificates];
  } catch {
    // The error is thrown below. The message contains neither the file's content nor its path.
  }
  throw new DatabaseUrlError("sslrootcert must name a readable PEM file with certificates");
}

/** A database URL cannot be used. The message contains no part of the URL, because the URL may contain a password. */
export class DatabaseUrlError extends Error {
  override name = "DatabaseUrlError";
}
