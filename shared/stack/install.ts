/** Installs the dependencies when they are missing. Imports nothing that would have to be installed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Progress } from "./progress.ts";
import { StartRefusal } from "./refusal.ts";
import type { Supervisor } from "./supervisor.ts";

interface PackageJson {
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

function readPackageJson(folder: string): PackageJson | null {
  try {
    // Written by package managers, or by us.
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackageJson;
  } catch {
    return null;
  }
}

/** Versions in package.json are exact, so this also finds what a `git pull` has moved on. */
function isInstalled(root: string): boolean {
  const wanted = readPackageJson(root);
  return Object.entries({ ...wanted?.dependencies, ...wanted?.devDependencies }).every(
    ([name, version]) => readPackageJson(join(root, "node_modules", name))?.version === version,
  );
}

export interface InstallOptions {
  root: string;
  env: NodeJS.ProcessEnv;
  supervisor: Supervisor;
  progress: Progress;
}

/** Makes `node_modules` what the lockfile says, with this very Bun, unless it is so already. */
export async function installDependencies({
  root,
  env,
  supervisor,
  progress,
}: InstallOptions): Promise<void> {
  if (isInstalled(root)) return;
  await progress.step("Installing the dependencies", async (note) => {
    const lines: string[] = [];
    const child = await supervisor.spawn({
      name: "bun install",
      command: process.execPath,
      args: ["install", "--frozen-lockfile"],
      cwd: root,
      env,
      output(line) {
        if (line.trim() === "") return;
        lines.push(line);
        note(line);
      },
    });
    const { code } = await child.exited;
    if (code !== 0) {
      const reason = lines.findLast((line) => line.startsWith("error:")) ?? lines.at(-1);
      throw new StartRefusal(`Cannot install the dependencies: ${reason ?? `exit code ${code}`}`);
    }
  });
}
