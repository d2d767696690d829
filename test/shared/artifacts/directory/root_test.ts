/** The owner of files that root writes into the artifact directory, for example with `admin artifacts adopt`. */
import { expect, test } from "bun:test";
import { chownSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openArtifactDirectory } from "../../../../shared/artifacts/directory.ts";
import { MARKER_NAME } from "../../../../shared/artifacts/store.ts";

const SERVICE = { uid: 4711, gid: 4712 };

test("a marker written by root belongs to the data directory's owner, as does an artifact directory created by root", async () => {
  const data = mkdtempSync(join(tmpdir(), "ulr-adopt-"));
  try {
    chownSync(data, SERVICE.uid, SERVICE.gid);
    const directory = join(data, "exports", "artifacts");
    const store = openArtifactDirectory(directory);
    expect(await store.createMarker("first")).toBe(true);
    await store.replaceMarker("second");
    for (const path of [dirname(directory), directory, join(directory, MARKER_NAME)]) {
      const { uid, gid } = statSync(path);
      expect([path, uid, gid]).toEqual([path, SERVICE.uid, SERVICE.gid]);
    }
    expect(statSync(join(directory, MARKER_NAME)).mode & 0o777).toBe(0o600);
    expect(await store.readMarker()).toBe("second");
  } finally {
    rmSync(data, { recursive: true });
  }
});
