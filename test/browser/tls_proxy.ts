/** A TLS proxy with a certificate of a private authority, like an operator's in front of the service. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeAuthority, makeServerCertificate } from "../helpers/network/certificates.ts";

export interface TlsProxy extends AsyncDisposable {
  origin: string;
}

async function makeCertificate(): Promise<{ key: string; cert: string }> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-tls-"));
  try {
    const authority = await makeAuthority(directory, "proxy");
    const { certPath, keyPath } = await makeServerCertificate(authority, "IP:127.0.0.1");
    return { key: await Bun.file(keyPath).text(), cert: await Bun.file(certPath).text() };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Starts the proxy on a port. Calls `upstream()` for each request, because the URL may not be known at the start. */
export async function startTlsProxy(port: number, upstream: () => string): Promise<TlsProxy> {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    tls: await makeCertificate(),
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { method, headers, body } = request;
      // Responses pass through unchanged: no redirect is followed and no body is decompressed.
      const init = { method, headers, body, redirect: "manual", decompress: false } as const;
      return fetch(`${upstream()}${pathname}${search}`, init);
    },
  });
  return {
    origin: `https://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
