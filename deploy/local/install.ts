/** Installs the dependencies when they are missing. Imports no package. */
import { join } from "node:path";
import { readText } from "./machine.ts";
import { type RunBunOptions, runBun } from "./supervisor.ts";
import { type Progress, StartError } from "./terminal.ts";

interface PackageJson {
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

function readPackageJson(folder: string): PackageJson | null {
  try {
    // Written by package managers, or by us.
    return JSON.parse(readText(join(folder, "package.json")) ?? "null") as PackageJson | null;
  } catch {
    return null;
  }
}

/** Packages whose installed version is not the exact one of package.json, as after a `git pull`. */
function listMissing(root: string): string[] {
  const { dependencies, devDependencies } = readPackageJson(root) ?? {};
  return Object.entries({ ...dependencies, ...devDependencies })
    .filter(([name, wanted]) => {
      // A package under another name: `npm:typescript@5.9.3`.
      const version = wanted.startsWith("npm:") ? wanted.slice(wanted.lastIndexOf("@") + 1) : wanted;
      return readPackageJson(join(root, "node_modules", name))?.version !== version;
    })
    .map(([name]) => name);
}

/** True if the packages of this folder are those of its package.json. */
export function isInstalled(root: string): boolean {
  return listMissing(root).length === 0;
}

export interface InstallOptions extends Pick<RunBunOptions, "supervisor" | "root" | "env"> {
  progress: Progress;
}

/**
 * Installs the packages of the lockfile with the running Bun; returns false if nothing was missing. Throws StartError
 * if something is still missing afterwards, because a caller that retried would install forever.
 */
export async function installDependencies({ progress, ...options }: InstallOptions): Promise<boolean> {
  if (isInstalled(options.root)) return false;
  await progress.step("Installing the dependencies", (note) => {
    const args = ["install", "--frozen-lockfile"];
    return runBun({ ...options, note, purpose: "install the dependencies", args });
  });
  const missing = listMissing(options.root);
  if (missing.length === 0) return true;
  throw new StartError(
    `Cannot go on: after the installation these packages are still not as package.json says: ${missing.join(", ")}`,
  );
}
