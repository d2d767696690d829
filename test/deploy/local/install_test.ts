/** What counts as installed, and that commands of a new clone install first. */
import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInstalled } from "../../../deploy/local/install.ts";

const ENTRY = join(import.meta.dir, "../../../deploy/local/install/main.ts");

async function openFolder(files: Readonly<Record<string, object>>) {
  const root = await mkdtemp(join(tmpdir(), "ulr-install-"));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), JSON.stringify(content));
  }
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

function runEntry(cwd: string) {
  return Bun.spawnSync([process.execPath, ENTRY, "."], { cwd });
}

test("a package under another name is installed when its own version is there", async () => {
  await using folder = await openFolder({
    "package.json": { dependencies: { "@a/b": "1.2.3", other: "npm:@a/b@2.0.0" } },
    "node_modules/@a/b/package.json": { version: "1.2.3" },
    "node_modules/other/package.json": { version: "2.0.0" },
  });
  expect(isInstalled(folder.root)).toBe(true);
  expect(runEntry(folder.root).stdout.toString()).toBe("");
});

test("a missing package is installed", async () => {
  await using folder = await openFolder({
    "package.json": { name: "x", version: "1.0.0", dependencies: { local: "file:./local" } },
    "local/package.json": { name: "local", version: "1.0.0" },
  });
  expect(isInstalled(folder.root)).toBe(false);
  expect(Bun.spawnSync([process.execPath, "install", "--lockfile-only"], { cwd: folder.root }).success).toBe(
    true,
  );
  expect(runEntry(folder.root).exitCode).toBe(0);
  expect(await Bun.file(join(folder.root, "node_modules/local/package.json")).json()).toEqual({
    name: "local",
    version: "1.0.0",
  });
});

test("an installation that fails ends the command with the reason", async () => {
  await using folder = await openFolder({
    "package.json": { name: "x", version: "1.0.0", dependencies: { local: "file:./missing" } },
  });
  const { exitCode, stderr } = runEntry(folder.root);
  expect(exitCode).toBe(1);
  expect(stderr.toString()).toContain("missing");
});
