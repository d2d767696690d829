/** Reads the packages of a production install from the lockfile. */

/** The dependency fields of an entry in `bun.lock`. */
interface LockedDependencies {
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** The content of `bun.lock`, version 2. Keys of `packages` are paths without the `node_modules` folders. */
export interface Lockfile {
  workspaces: { "": { dependencies: Record<string, string> } };
  packages: Record<string, [id: string, registry: string, LockedDependencies, integrity: string]>;
}

export interface LockedPackage {
  /** The key of the package's entry: `elysia/cookie` is the copy of `cookie` that only `elysia` uses. */
  key: string;
  name: string;
  version: string;
  /** The Subresource Integrity value of the package's archive: `sha512-…`. */
  integrity: string;
  /** Keys of the package's dependencies. */
  dependencies: string[];
}

/** Lists the packages that `bun install --production --omit=optional` installs, sorted by key. */
export function listProductionPackages(lock: Lockfile): LockedPackage[] {
  const found = new Map<string, LockedPackage>();
  const visit = (key: string) => {
    if (found.has(key)) return;
    const [id, , { dependencies = {}, peerDependencies = {} }, integrity] = requireEntry(lock, key);
    // Bun also installs an optional peer if another package depends on it.
    const names = Object.keys({ ...dependencies, ...peerDependencies });
    const needed = names.map((name) => resolve(lock, key, name)).filter((found) => found in lock.packages);
    const at = id.lastIndexOf("@");
    found.set(key, {
      key,
      name: id.slice(0, at),
      version: id.slice(at + 1),
      integrity,
      dependencies: needed,
    });
    for (const dependency of needed) visit(dependency);
  };
  for (const name of Object.keys(lock.workspaces[""].dependencies)) visit(name);
  return [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Returns the key of the copy of `name` that the package at `key` imports. Like Node.js, picks the nearest copy. */
function resolve(lock: Lockfile, key: string, name: string): string {
  for (let folder = key; folder !== ""; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const nested = `${folder}/${name}`;
    if (nested in lock.packages) return nested;
  }
  return name;
}

function requireEntry(lock: Lockfile, key: string) {
  const entry = lock.packages[key];
  if (!entry) throw new Error(`Package "${key}" is not in bun.lock. Run \`bun install\`.`);
  return entry;
}
