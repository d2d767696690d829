/** Which release a process runs. It is shown on METRICS_PORT only: public responses name no version. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Gauge, type Registry } from "prom-client";

const ROOT = join(import.meta.dir, "../..");

/** Registers `build_info`, with the version of package.json and the revision of the source. */
export function registerBuildInfo(registry: Registry): void {
  new Gauge({
    name: "build_info",
    help: "Always 1; the labels name the version and the source revision of the process",
    labelNames: ["version", "revision"],
    registers: [registry],
  }).set({ version: readVersion(), revision: readRevision() }, 1);
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  return version;
}

/** Returns the text of the file REVISION, which images have in place of a repository, or the commit of the repository. */
function readRevision(): string {
  try {
    return readFileSync(join(ROOT, "REVISION"), "utf8").trim();
  } catch {
    return readCommit();
  }
}

function readCommit(): string {
  try {
    const { exitCode, stdout } = Bun.spawnSync(["git", "rev-parse", "HEAD"], { cwd: ROOT, stderr: "ignore" });
    return exitCode === 0 ? stdout.toString().trim() : "unknown";
  } catch {
    return "unknown";
  }
}
