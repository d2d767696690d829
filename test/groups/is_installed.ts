/** Which packages are installed. Imports none. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

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

/** True if the packages of this folder are those of its package.json, in the same versions, as after a `git pull`. */
export function isInstalled(folder: string): boolean {
  const { dependencies, devDependencies } = readPackageJson(folder) ?? {};
  return Object.entries({ ...dependencies, ...devDependencies }).every(([name, wanted]) => {
    // A package under another name: `npm:typescript@5.9.3`.
    const version = wanted.startsWith("npm:") ? wanted.slice(wanted.lastIndexOf("@") + 1) : wanted;
    return readPackageJson(join(folder, "node_modules", name))?.version === version;
  });
}
