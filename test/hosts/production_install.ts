/** The files that `deploy/Dockerfile` installs and copies into the image, in a test's own folder and without Docker. */
import { chmod, copyFile, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DockerfileParser } from "dockerfile-ast";
import { type CommandResult, runCommand } from "../helpers/process/command.ts";
import type { Installation } from "../helpers/process/service_process.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
/** The user id of `nobody` on Linux. */
const NOBODY = 65_534;

export interface ProductionInstall extends Installation, AsyncDisposable {
  /** The only folder that the processes may write to. */
  dataDir: string;
  /** A command prefix that runs the command as the user `nobody` on a read-only file system. */
  prefix: readonly string[];
}

/** Reads the sources of the COPY instructions from the repository, and the RUN command that installs packages. */
async function readDockerfile(): Promise<{ files: string[]; install: string[] }> {
  const text = await Bun.file(join(REPOSITORY, "deploy/Dockerfile")).text();
  const dockerfile = DockerfileParser.parse(text);
  const files = dockerfile
    .getCOPYs()
    .filter((copy) => copy.getFromFlag() === null)
    .flatMap((copy) => copy.getArguments().slice(0, -1))
    .map((argument) => argument.getValue());
  const install = dockerfile
    .getInstructions()
    .map((instruction) => instruction.getArguments().map((argument) => argument.getValue()))
    .find(([program, command]) => program === "bun" && command === "install");
  if (!install) throw new Error("Cannot find `bun install` in deploy/Dockerfile");
  return { files, install };
}

function check({ exitCode, stderr }: CommandResult): void {
  if (exitCode !== 0) throw new Error(`Cannot install: ${stderr}`);
}

/** Returns a command prefix that makes everything except `dataDir` read-only in a mount namespace, and then drops root. */
function isolate(dataDir: string): string[] {
  const script = `mount --bind "${dataDir}" "${dataDir}" && mount -o remount,bind,ro / &&
    exec setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups --no-new-privs "$@"`;
  return ["unshare", "--mount", "sh", "-c", script, "isolate"];
}

/** Installs the service into a new folder as the Dockerfile does. Needs root; `await using` deletes the folder. */
export async function installForProduction(): Promise<ProductionInstall> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-install-"));
  const [root, dataDir, bun] = ["app", "data", "bun"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const dispose = () => rm(directory, { recursive: true, force: true });
  try {
    await chmod(directory, 0o755);
    check(await runCommand(["install", "-d", "-o", `${NOBODY}`, "-g", `${NOBODY}`, "-m", "700", dataDir]));
    // Copies Bun, because npx stores it where only root can read it.
    await copyFile(process.execPath, bun);
    await chmod(bun, 0o755);
    const { files, install } = await readDockerfile();
    await mkdir(root);
    for (const file of files) await cp(join(REPOSITORY, file), join(root, file), { recursive: true });
    const [, ...args] = install;
    check(await runCommand([bun, ...args, "--cwd", root]));
    return { root, dataDir, bun, prefix: isolate(dataDir), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
