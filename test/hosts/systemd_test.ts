/** The shipped units as systemd reads them. Needs systemd's programs, not a running systemd. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { runCommand } from "../helpers/process/command.ts";
import { listFiles, ROOT } from "../workspace/source_files.ts";

test("systemd-analyze finds nothing wrong with the units", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-units-"));
  try {
    const units: string[] = [];
    for (const path of await listFiles("deploy/systemd/*.service")) {
      // It checks that programs and folders are there.
      const text = (await Bun.file(join(ROOT, path)).text())
        .replace("/usr/local/bin/bun", process.execPath)
        .replaceAll("/opt/ulr", ROOT.replace(/\/$/, ""));
      const unit = join(directory, basename(path));
      await Bun.write(unit, text);
      units.push(unit);
    }
    const { exitCode, stdout, stderr } = await runCommand([
      "systemd-analyze",
      "verify",
      "--man=no",
      ...units,
    ]);
    expect([exitCode, stdout, stderr]).toEqual([0, "", ""]);
    // A setting that does not exist is only a warning to it.
    const [first = ""] = units;
    await Bun.write(first, `${await Bun.file(first).text()}\n[Service]\nNoSuchSetting=yes\n`);
    const wrong = await runCommand(["systemd-analyze", "verify", "--man=no", first]);
    expect(wrong.stderr).toContain("NoSuchSetting");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
