/**
 * Entry point before `bun run start`, `test` and others: installs the packages of the lockfile in the folders of its arguments
 * where some are missing. Imports no package.
 */
import { isInstalled } from "../install.ts";

for (const cwd of process.argv.slice(2).filter((folder) => !isInstalled(folder))) {
  const command = [process.execPath, "install", "--frozen-lockfile"];
  const { exitCode } = Bun.spawnSync(command, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (exitCode !== 0) process.exit(1);
}
