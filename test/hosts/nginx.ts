/** A real nginx in front of API processes, configured by `deploy/nginx.conf`. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseFreePort } from "../../deploy/local/machine.ts";
import { waitFor } from "../helpers/wait_for.ts";
import type { LanHost } from "./lan.ts";

const CONFIGURATION = new URL("../../deploy/nginx.conf", import.meta.url);

export interface Nginx extends AsyncDisposable {
  url: string;
  /** The URL of port 80, which redirects. */
  clearUrl: string;
  readAccessLog(): Promise<string>;
  readErrorLog(): Promise<string>;
}

/** Returns a main configuration that includes the site's file and makes nginx write all files to `directory`. */
function mainConfiguration(directory: string, site: string): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  return `
daemon off;
# A single process, so that killing it always stops nginx.
master_process off;
user root;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log;
events {}
http {
  access_log off;
  ${paths.join("\n  ")}
  include ${site};
}
`;
}

/**
 * Starts nginx on a host in front of two API processes, each an `address:port`; `await using` stops it. `adapt` may
 * change the site's file. Without `certificate`, port 443 serves unencrypted HTTP.
 */
export async function startNginx(
  { address, prefix }: Pick<LanHost, "address" | "prefix">,
  apis: readonly [string, string],
  adapt: (site: string) => string = (site) => site,
  certificate: { certPath: string; keyPath: string } | null = null,
): Promise<Nginx> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-nginx-"));
  const port = chooseFreePort("127.0.0.1");
  const clearPort = chooseFreePort("127.0.0.1");
  const clearUrl = `http://${address}:${clearPort}`;
  const url = `${certificate ? "https" : "http"}://${address}:${port}`;
  const tls = certificate ? " ssl" : "";
  const site = join(directory, "site.conf");
  const text = await Bun.file(CONFIGURATION).text();
  await writeFile(
    site,
    adapt(text)
      .replaceAll("listen 80", `listen ${address}:${clearPort}`)
      .replaceAll("listen [::]:80", `listen [::1]:${clearPort}`)
      .replaceAll("listen 443 ssl", `listen ${address}:${port}${tls}`)
      .replaceAll("listen [::]:443 ssl", `listen [::1]:${port}${tls}`)
      .replace("/etc/nginx/ulr/fullchain.pem", certificate?.certPath ?? "")
      .replace("/etc/nginx/ulr/privkey.pem", certificate?.keyPath ?? "")
      .replace(/ssl_certificate(_key)? ;/g, "")
      .replace("/var/www/acme", `${directory}/acme`)
      .replaceAll("/var/log/nginx", directory)
      .replace("api-1.internal:3000", apis[0])
      .replace("api-2.internal:3000", apis[1]),
  );
  const main = join(directory, "nginx.conf");
  await writeFile(main, mainConfiguration(directory, site));
  const child = Bun.spawn([...prefix, "nginx", "-c", main, "-e", join(directory, "error.log")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = new Response(child.stderr).text();
  await waitFor(
    async () => child.exitCode !== null || (await fetch(clearUrl, { redirect: "manual" }).catch(() => null)),
  );
  if (child.exitCode !== null) throw new Error(`Cannot start nginx: ${await said}`);
  return {
    url,
    clearUrl,
    readAccessLog: () => Bun.file(join(directory, "access.log")).text(),
    readErrorLog: () => Bun.file(join(directory, "error.log")).text(),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
