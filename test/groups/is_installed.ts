/** Checks which packages are installed. Imports none of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface PackageJson {
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

function readPackageJson(folder: string): PackageJson | null {
  try {
    // The file is written by a package manager or by us, so it is not validated.
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackageJson;
  } catch {
    return null;
  }
}

/**
 * Returns whether the installed packages of this folder have the versions in its package.json. They may differ after a
 * `git pull`.
 */
export function isInstalled(folder: string): boolean {
  const { dependencies, devDependencies } = readPackageJson(folder) ?? {};
  return Object.entries({ ...dependencies, ...devDependencies }).every(([name, wanted]) => {
    // An aliased package, such as `npm:typescript@5.9.3`.
    const version = wanted.startsWith("npm:") ? wanted.slice(wanted.lastIndexOf("@") + 1) : wanted;
    return readPackageJson(join(folder, "node_modules", name))?.version === version;
  });
}
