/** Certificates of a test's own authorities, made by openssl in one directory. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../process/command.ts";

async function openssl(...words: string[]): Promise<void> {
  const { exitCode, stderr } = await runCommand(["openssl", ...words]);
  if (exitCode !== 0) throw new Error(`Cannot make a certificate: ${stderr.trim()}`);
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Makes an authority and returns the path of its certificate, `name`.crt; its key is beside it. */
export async function makeAuthority(directory: string, name: string): Promise<string> {
  const path = join(directory, `${name}.crt`);
  const files = ["-keyout", join(directory, `${name}.key`), "-out", path];
  await openssl("req", "-x509", ...KEY, "-subj", `/CN=${name}`, "-days", "2", ...files);
  return path;
}

export interface ServerCertificate {
  certPath: string;
  keyPath: string;
}

/**
 * Makes a server's certificate, signed by an authority, for subject alternative names such as
 * `IP:127.0.0.1,DNS:db.example`. It is valid for `days`, which may be negative.
 */
export async function makeServerCertificate(
  authority: string,
  names: string,
  { days = 1 } = {},
): Promise<ServerCertificate> {
  const stem = join(authority, "..", crypto.randomUUID());
  const [certPath, keyPath] = [`${stem}.crt`, `${stem}.key`];
  await openssl("req", ...KEY, "-subj", "/CN=database", "-keyout", keyPath, "-out", `${stem}.csr`);
  writeFileSync(`${stem}.ext`, `subjectAltName=${names}\n`);
  const signer = ["-CA", authority, "-CAkey", authority.replace(/crt$/, "key"), "-CAcreateserial"];
  const files = ["-in", `${stem}.csr`, "-extfile", `${stem}.ext`, "-out", certPath];
  await openssl("x509", "-req", ...signer, "-days", String(days), ...files);
  return { certPath, keyPath };
}
