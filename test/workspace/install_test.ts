/** The commands of a new clone install missing packages first. */
import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInstalled } from "../groups/is_installed.ts";
import { ROOT } from "./source_files.ts";

const { scripts } = await Bun.file(join(ROOT, "package.json")).json();

async function openFolder(files: Readonly<Record<string, object>>) {
  const root = await mkdtemp(join(tmpdir(), "ulr-install-"));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), JSON.stringify(content));
  }
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

/** Runs a `start` script that prints `started`, after the repository's own pre-script. */
function runStart(cwd: string) {
  return Bun.spawnSync([process.execPath, "run", "start"], { cwd });
}

const ONLY_START = { prestart: scripts.prestart, start: "echo started" };

test("start, test, check and bench first install missing packages", () => {
  for (const name of ["start", "test", "check", "bench"]) {
    expect(scripts[`pre${name}`]).toStartWith("bun install --frozen-lockfile");
  }
  for (const name of ["check", "bench"]) expect(scripts[`pre${name}`]).toContain("--cwd test/bench");
});

test("an aliased package counts as installed if the version that the alias names is present", async () => {
  await using folder = await openFolder({
    "package.json": { dependencies: { "@a/b": "1.2.3", other: "npm:@a/b@2.0.0" } },
    "node_modules/@a/b/package.json": { version: "1.2.3" },
    "node_modules/other/package.json": { version: "2.0.0" },
  });
  expect(isInstalled(folder.root)).toBe(true);
});

test("bun run start installs a missing package before it runs, and a second start succeeds", async () => {
  await using folder = await openFolder({
    "package.json": {
      name: "x",
      version: "1.0.0",
      scripts: ONLY_START,
      dependencies: { local: "file:./local" },
    },
    "local/package.json": { name: "local", version: "1.0.0" },
  });
  expect(isInstalled(folder.root)).toBe(false);
  const lock = Bun.spawnSync([process.execPath, "install", "--lockfile-only"], { cwd: folder.root });
  expect(lock.success).toBe(true);
  for (const _ of ["first", "second"]) {
    const { exitCode, stdout } = runStart(folder.root);
    expect([exitCode, stdout.toString()]).toEqual([0, "started\n"]);
    expect(await Bun.file(join(folder.root, "node_modules/local/package.json")).json()).toEqual({
      name: "local",
      version: "1.0.0",
    });
  }
});

test("if the installation fails, bun run start exits with 1 and prints the reason", async () => {
  await using folder = await openFolder({
    "package.json": {
      name: "x",
      version: "1.0.0",
      scripts: ONLY_START,
      dependencies: { local: "file:./missing" },
    },
  });
  const { exitCode, stdout, stderr } = runStart(folder.root);
  expect([exitCode, stdout.toString()]).toEqual([1, ""]);
  expect(stderr.toString()).toContain("missing");
});
