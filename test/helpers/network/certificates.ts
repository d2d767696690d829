/** Creates certificates signed by a test's own certificate authority (CA). */
// @peculiar/x509 requires that reflect-metadata is loaded first.
import "reflect-metadata";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 86_400_000;

/** Parses subject alternative names such as `IP:127.0.0.1,DNS:db.example`. */
function parseNames(names: string): x509.JsonGeneralNames {
  return names.split(",").map((name) => {
    const [kind = "", value = ""] = name.split(/:(.*)/s);
    return { type: kind === "IP" ? "ip" : "dns", value };
  });
}

async function toPem(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}

/** Returns a validity period that ends `days` from now. If `days` is negative, the certificate expired that many days ago. */
function validity(days: number): { notBefore: Date; notAfter: Date } {
  const notAfter = new Date(Date.now() + days * DAY_MS);
  return { notBefore: new Date(Math.min(Date.now(), notAfter.getTime()) - DAY_MS), notAfter };
}

const authorities = new Map<string, { certificate: x509.X509Certificate; key: CryptoKey }>();

/** Creates a CA and returns the path of its certificate, `name`.crt. */
export async function makeAuthority(directory: string, name: string): Promise<string> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity(2),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const path = join(directory, `${name}.crt`);
  writeFileSync(path, certificate.toString("pem"));
  authorities.set(path, { certificate, key: keys.privateKey });
  return path;
}

export interface ServerCertificate {
  certPath: string;
  keyPath: string;
}

/**
 * Creates a server certificate, signed by a CA from `makeAuthority`, for subject alternative names such as
 * `IP:127.0.0.1,DNS:db.example`. The certificate expires in `days` days. If `days` is negative, it has already expired.
 */
export async function makeServerCertificate(
  authority: string,
  names: string,
  { days = 1 } = {},
): Promise<ServerCertificate> {
  const issuer = authorities.get(authority);
  if (!issuer) throw new Error(`Cannot sign with ${authority}: makeAuthority() did not make it`);
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: "CN=database",
    issuer: issuer.certificate.subject,
    publicKey: keys.publicKey,
    signingKey: issuer.key,
    signingAlgorithm: ALGORITHM,
    ...validity(days),
    extensions: [
      new x509.SubjectAlternativeNameExtension(parseNames(names)),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.certificate),
    ],
  });
  const stem = join(authority, "..", crypto.randomUUID());
  const [certPath, keyPath] = [`${stem}.crt`, `${stem}.key`];
  writeFileSync(certPath, certificate.toString("pem"));
  writeFileSync(keyPath, await toPem(keys.privateKey), { mode: 0o600 });
  return { certPath, keyPath };
}
