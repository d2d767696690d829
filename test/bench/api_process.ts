/** The API as a process of its own, and downloads from it by curl. */
import { fileURLToPath } from "node:url";
import { chooseFreePort } from "../../shared/stack/ports.ts";
import { waitFor } from "../helpers/wait_for.ts";

const ENTRY = fileURLToPath(new URL("../../api/main.ts", import.meta.url));

export interface ApiProcess extends AsyncDisposable {
  pid: number;
  /** Downloads and throws the bytes away; throws unless the answer is 200 and whole. */
  download(path: string, key: string): Promise<void>;
}

export async function openApiProcess(databaseUrl: string): Promise<ApiProcess> {
  const port = await chooseFreePort("127.0.0.1");
  const child = Bun.spawn([process.execPath, ENTRY], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      LOG_LEVEL: "warn",
      EXPORT_SYNC_MAX_ROWS: "10000000",
      EXPORT_BUNDLE_MAX_ROWS: "10000000",
      RATE_LIMIT_USER_PER_MINUTE: "1000000",
    },
    stdout: "inherit",
    stderr: "inherit",
  });
  const origin = `http://127.0.0.1:${port}`;
  await waitFor(
    () =>
      fetch(`${origin}/health/ready`).then(
        (response) => response.ok,
        () => false,
      ),
    20_000,
  );
  return {
    pid: child.pid,
    async download(path, key) {
      const curl = Bun.spawn(
        [
          "curl",
          "--silent",
          "--show-error",
          "--fail",
          "--output",
          "/dev/null",
          "--header",
          "@-",
          `${origin}${path}`,
        ],
        // On standard input, so that the key stands in no list of processes.
        { stdin: new TextEncoder().encode(`Authorization: Bearer ${key}\n`), stderr: "pipe" },
      );
      const [stderr, exitCode] = await Promise.all([new Response(curl.stderr).text(), curl.exited]);
      if (exitCode !== 0) throw new Error(`Cannot download ${path}: ${stderr}`);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}
