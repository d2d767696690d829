/** TLS in front of a process, as a proxy of the operator's would add it, with a certificate that nobody vouches for. */
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

/** Starts it on a port; it asks `upstream()` for each request, which may be known later. */
export async function startTlsProxy(port: number, upstream: () => string): Promise<TlsProxy> {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    tls: await makeCertificate(),
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { method, headers, body } = request;
      // As it is: neither redirects nor compression are the proxy's business.
      const init = { method, headers, body, redirect: "manual", decompress: false } as const;
      return fetch(`${upstream()}${pathname}${search}`, init);
    },
  });
  return {
    origin: `https://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
