/** A running systemd on this machine, with its own files in /etc, /opt, /usr/local and /var. Needs root. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandResult, runCommand } from "../helpers/process/command.ts";
import { waitFor } from "../helpers/wait_for.ts";
import type { LanHost } from "./lan.ts";

export interface SystemdMachine extends AsyncDisposable {
  /** Runs a Bash script on the machine. The script stops at the first failing command. */
  run(script: string): Promise<CommandResult>;
  /** Runs commands on the machine as if a person pasted them: a failing command does not stop the next ones. */
  paste(commands: string, stdin?: string): Promise<CommandResult>;
}

/** Prepares the mounts and starts systemd as PID 1, with only its journal and bus. */
const BOOT = `set -e
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
for name in etc opt var usr/local; do
  mkdir -p /run/layers/$name/upper /run/layers/$name/work
  mount -t overlay overlay -o lowerdir=/$name,upperdir=/run/layers/$name/upper,workdir=/run/layers/$name/work /$name
done
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /run/lock /run/systemd/system
for folder in "$@"; do
  mkdir "/opt/\${folder##*/}"
  mount --bind "$folder" "/opt/\${folder##*/}"
done
rm -f /usr/local/bin/bun
cp "$BUN" /usr/local/bin/bun
mount -t tmpfs tmpfs /tmp
cat > /run/systemd/system/test.target <<UNIT
[Unit]
Description=test
DefaultDependencies=no
Requires=systemd-journald.socket dbus.socket
After=systemd-journald.socket dbus.socket
UNIT
exec /lib/systemd/systemd --system --unit=test.target --log-target=journal --show-status=no
`;

/** Starts systemd on a host, with Bun and each of `folders` installed in /opt; `await using` stops systemd. */
export async function startSystemd(
  host: Pick<LanHost, "prefix">,
  folders: readonly string[],
): Promise<SystemdMachine> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-systemd-"));
  const script = join(directory, "boot.sh");
  await Bun.write(script, BOOT);
  const isolated = ["unshare", "--fork", "--kill-child", "--pid", "--mount", "--ipc", "--uts", "--cgroup"];
  const child = Bun.spawn([...host.prefix, ...isolated, "bash", script, ...folders], {
    env: { PATH: process.env["PATH"] ?? "", BUN: process.execPath, container: "test" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = new Response(child.stderr).text();
  const runBash = async (args: readonly string[], stdin = "") => {
    const first = (await Bun.file(`/proc/${child.pid}/task/${child.pid}/children`).text()).trim();
    const inside = ["nsenter", "--target", first, "--all", "env", "-i", "HOME=/root"];
    const path = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
    return runCommand([...inside, path, "bash", ...args], { stdin: Buffer.from(stdin) });
  };
  const machine: SystemdMachine = {
    run: (script) => runBash(["-euo", "pipefail", "-c", script]),
    paste: (commands, stdin) => runBash(["-c", commands], stdin),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    await waitFor(async () => {
      if (child.exitCode !== null) throw new Error(`Cannot start systemd: ${await said}`);
      const { stdout } = await machine.run("systemctl is-system-running || true");
      return stdout === "running\n";
    });
    return machine;
  } catch (error) {
    await machine[Symbol.asyncDispose]();
    throw error;
  }
}
