/** What counts as installed, and what happens if an installation fails to provide it. */
import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installDependencies } from "../../../deploy/local/install.ts";
import { openSupervisor } from "../../../deploy/local/supervisor.ts";
import { openProgress } from "../../../deploy/local/terminal.ts";

async function openFolder(files: Readonly<Record<string, object>>) {
  const root = await mkdtemp(join(tmpdir(), "ulr-install-"));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), JSON.stringify(content));
  }
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

async function install(root: string): Promise<boolean> {
  await using supervisor = openSupervisor({ force: new AbortController().signal });
  return await installDependencies({
    root,
    env: process.env,
    supervisor,
    progress: openProgress(process.stderr),
  });
}

test("a package under another name is installed when its own version is there", async () => {
  await using folder = await openFolder({
    "package.json": { dependencies: { "@a/b": "1.2.3", other: "npm:@a/b@2.0.0" } },
    "node_modules/@a/b/package.json": { version: "1.2.3" },
    "node_modules/other/package.json": { version: "2.0.0" },
  });
  expect(await install(folder.root)).toBe(false);
});

test("an installation without the required result fails and does not loop", async () => {
  await using folder = await openFolder({
    // A version that no comparison finds: nothing exact.
    "package.json": { name: "x", version: "1.0.0", dependencies: { local: "file:./local" } },
    "local/package.json": { name: "local", version: "1.0.0" },
  });
  expect(Bun.spawnSync([process.execPath, "install"], { cwd: folder.root }).exitCode).toBe(0);
  await expect(install(folder.root)).rejects.toThrow("still not as package.json says: local");
});
