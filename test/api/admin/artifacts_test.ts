import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openArtifactDirectory } from "../../../shared/artifacts/directory.ts";
import { readArtifactOwner } from "../../../shared/artifacts/owner.ts";
import { runCommand, runJson } from "../../helpers/accounts/admin.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

test("artifacts adopt makes this database the owner, names the previous owner and writes an audit entry", async () => {
  await using db = await openTestDatabase();
  await using other = await openTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "ulr-adopt-"));
  const artifactUrl = pathToFileURL(directory).href;
  const env = { ARTIFACT_URL: artifactUrl };
  const first = await runJson(other.url, ["artifacts", "adopt"], env);
  expect(first).toEqual({ artifactUrl, installationId: expect.any(String), previousInstallationId: null });
  const second = await runJson<{ installationId: string }>(db.url, ["artifacts", "adopt"], env);
  expect(second).toMatchObject({ artifactUrl, previousInstallationId: first["installationId"] });
  expect(await readArtifactOwner(openArtifactDirectory(directory))).toMatchObject({
    installationId: second.installationId,
    database: new URL(db.url).pathname.slice(1),
  });
  const audited = await db.sql`select actor_type, action, subject_type, subject_id, details from audit_log`;
  expect([...audited]).toEqual([
    {
      actorType: "operator",
      action: "artifacts.adopt",
      subjectType: "installation",
      subjectId: second.installationId,
      details: { artifactUrl, previousInstallationId: first["installationId"] },
    },
  ]);
  const again = await runCommand(db.url, ["artifacts", "adopt"], env);
  expect([again.exitCode, again.err]).toEqual([0, ""]);
  expect(again.out).toContain(artifactUrl);
  expect(again.out).toContain("the same");
  await rm(directory, { recursive: true });
});

test("artifacts adopt reports a storage error and writes no audit entry", async () => {
  await using db = await openTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "ulr-adopt-"));
  const path = join(directory, "file");
  await Bun.write(path, "a file where the directory should be");
  const env = { ARTIFACT_URL: pathToFileURL(path).href };
  const { exitCode, err } = await runCommand(db.url, ["artifacts", "adopt"], env);
  expect([exitCode, err]).toEqual([1, expect.stringContaining("Cannot use the artifact storage")]);
  expect(await db.sql`select from audit_log`).toHaveLength(0);
  await rm(directory, { recursive: true });
});
