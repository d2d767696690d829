/** Installs the tests' requirements: npm packages, and programs on Debian and Ubuntu. */
import { existsSync } from "node:fs";
import type { Command } from "../../deploy/local/bootstrap.ts";
import { openSupervisor } from "../../deploy/local/supervisor.ts";
import { untilAborted } from "../../shared/process/with_timeout.ts";
import type { MissingGroup } from "./groups.ts";

/** Installs the missing requirements of the groups and reports each step. Throws if a requirement cannot be installed. */
export async function installPackages(command: Command, missing: readonly MissingGroup[]): Promise<void> {
  for (const { folder } of missing) {
    if (folder === undefined) continue;
    await using supervisor = openSupervisor(command);
    await command.step(`Installing the packages of ${folder}`, async (note) => {
      const { root: cwd, env } = command;
      const install = { name: "bun install", command: process.execPath, cwd, env };
      const child = await supervisor.spawn({
        ...install,
        args: ["install", "--frozen-lockfile", "--cwd", folder],
        output: note,
      });
      const { code } = await untilAborted(child.exited, command.stop);
      if (code !== 0) throw new Error(`Cannot install the packages: ${child.lastLines.join("\n")}`);
    });
  }
  await installDebianPackages(command, missing);
}

async function installDebianPackages(command: Command, missing: readonly MissingGroup[]): Promise<void> {
  const packages = [...new Set(missing.flatMap((group) => group.packages))].sort();
  if (packages.length === 0) return;
  if (!existsSync("/usr/bin/apt-get")) {
    throw new Error(
      `Cannot install ${packages.join(", ")}: --install needs Debian or Ubuntu. Install these programs in your system's way: ${missing.flatMap(({ faults }) => faults).join(", ")}.`,
    );
  }
  if (process.getuid?.() !== 0) {
    throw new Error(
      `Cannot install packages as an ordinary user. Run as root: apt-get install --no-install-recommends ${packages.join(" ")}`,
    );
  }
  await using supervisor = openSupervisor(command);
  for (const args of [
    ["update", "-q"],
    ["install", "-qy", "--no-install-recommends", ...packages],
  ]) {
    await command.step(`apt-get ${args.join(" ")}`, async () => {
      const child = await supervisor.spawn({
        name: "apt-get",
        command: "/usr/bin/apt-get",
        args,
        cwd: command.root,
        env: { ...command.env, DEBIAN_FRONTEND: "noninteractive" },
        output: "inherit",
        graceMs: 60_000,
      });
      const { code } = await untilAborted(child.exited, command.stop);
      if (code !== 0) throw new Error(`Cannot install the packages: apt-get ended with ${code}.`);
    });
  }
}
