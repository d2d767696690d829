/** A real PgBouncer in transaction mode in front of a database, configured by `deploy/pgbouncer.ini`. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseFreePort } from "../../deploy/local/machine.ts";
import { waitFor } from "../helpers/wait_for.ts";

const CONFIGURATION = new URL("../../deploy/pgbouncer.ini", import.meta.url);

export interface PgBouncer extends AsyncDisposable {
  /** The database's URL through the pooler. */
  url: string;
}

export interface PgBouncerOptions {
  /** The pooler's address; 127.0.0.1 if omitted. */
  address?: string;
  /** Values that replace those in the configuration. */
  settings?: Readonly<Record<string, string | number>>;
}

/**
 * Replaces values in the configuration, including values that are commented out. Throws if the configuration has no
 * line for a value.
 */
function withSettings(text: string, settings: Readonly<Record<string, string | number>>): string {
  let result = text;
  for (const [name, value] of Object.entries(settings)) {
    const line = new RegExp(`^;?${name} = .*$`, "m");
    if (!line.test(result)) throw new Error(`Cannot set ${name}: deploy/pgbouncer.ini does not`);
    result = result.replace(line, `${name} = ${value}`);
  }
  return result;
}

async function canConnect(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Starts PgBouncer; `await using` stops it. */
export async function startPgBouncer(
  databaseUrl: string,
  { address = "127.0.0.1", settings = {} }: PgBouncerOptions = {},
): Promise<PgBouncer> {
  const url = new URL(databaseUrl);
  const { hostname, username, password } = url;
  const database = url.pathname.slice(1);
  const directory = await mkdtemp(join(tmpdir(), "ulr-pgbouncer-"));
  await chmod(directory, 0o755);
  const users = join(directory, "userlist.txt");
  await writeFile(users, `"${username}" "${password}"\n`);
  const port = chooseFreePort("127.0.0.1");
  const text = await Bun.file(CONFIGURATION).text();
  const file = join(directory, "pgbouncer.ini");
  await writeFile(
    file,
    withSettings(
      text.replace(/^ulr = host=\S+ port=\d+ dbname=\S+/m, `${database} = host=${hostname} port=${url.port}`),
      {
        listen_addr: address,
        listen_port: port,
        auth_file: users,
        // If the server requires no password, the pooler has no password to check.
        ...(password ? {} : { auth_type: "trust" }),
        ...settings,
      },
    ),
  );
  // PgBouncer refuses to run as root.
  const account = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = Bun.spawn(["pgbouncer", ...account, file], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = new Response(child.stderr).text();
  await waitFor(async () => child.exitCode !== null || (await canConnect(port, address)));
  if (child.exitCode !== null) throw new Error(`Cannot start PgBouncer: ${await said}`);
  url.hostname = address;
  url.port = String(port);
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
