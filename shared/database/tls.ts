/** Turns `sslmode` and `sslrootcert` of a database URL into the driver's TLS options. The values mean the same as in libpq. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";

/** False: never. "prefer": if the server offers it, with any certificate. */
export type Tls = false | "prefer" | ConnectionOptions;

export interface TlsParameters {
  mode: string | null;
  rootCert: string | null;
  hosts: readonly string[];
}

const MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"];
/** The certificate authorities of the runtime. */
const SYSTEM = "system";
const CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** Returns the driver's TLS options. Throws for values that cannot be used, alone or together. */
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
    // The driver gives the runtime no name to compare with if the host is an address.
    checkServerIdentity: (name, certificate) =>
      checkServerIdentity(others.length > 0 ? name : host, certificate),
  };
}

/** Returns the mode that applies. */
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

/** Returns the PEM certificates of a file. */
function readCertificates(path: string): string[] {
  try {
    const certificates = readFileSync(path, "utf8").match(CERTIFICATE) ?? [];
    for (const certificate of certificates) new X509Certificate(certificate);
    if (certificates.length > 0) return [...certificates];
  } catch {
    // Reported below: the file's content and path stay out of messages.
  }
  throw new DatabaseUrlError("sslrootcert must name a readable PEM file with certificates");
}

/** The message holds no part of the URL, which may hold a password. */
export class DatabaseUrlError extends Error {
  override name = "DatabaseUrlError";
}
