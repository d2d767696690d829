import { expect, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { describeMaterials } from "./bill_of_materials.ts";

const ROOT = join(import.meta.dir, "../..");

/** Installs the production packages into a folder, and returns them as `folder/folder@version`. */
async function installForProduction(folder: string): Promise<string[]> {
  for (const file of ["package.json", "bun.lock", "bunfig.toml", "sql/patches"]) {
    await cp(join(ROOT, file), join(folder, file), { recursive: true });
  }
  const command = [process.execPath, "install", "--production", "--omit=optional", "--frozen-lockfile"];
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: folder });
  expect([exitCode, exitCode === 0 ? "" : stderr.toString()]).toEqual([0, ""]);
  const glob = new Bun.Glob("node_modules/**/package.json");
  const files = await Array.fromAsync(glob.scan({ cwd: folder, dot: true }));
  const isPackage = /^(node_modules\/(@[^/]+\/)?[^/]+\/)+package\.json$/;
  const found = files.filter((file) => isPackage.test(file) && !file.includes("/.cache/"));
  return Promise.all(
    found.map(async (file) => {
      const { version } = await Bun.file(join(folder, file)).json();
      return `${dirname(file).replaceAll("node_modules/", "")}@${version}`;
    }),
  );
}

test("the bill of materials lists exactly the packages of a production install", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ulr-production-"));
  try {
    const bom = JSON.parse(await describeMaterials(ROOT));
    const listed = bom.components.map((c: Record<string, string>) => `${c["bom-ref"]}@${c["version"]}`);
    expect(listed.sort()).toEqual((await installForProduction(folder)).sort());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("the bill of materials is valid, reproducible CycloneDX with checksums and licenses", async () => {
  const text = await describeMaterials(ROOT);
  expect(await describeMaterials(ROOT)).toBe(text);
  const problems = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
  expect(problems).toBeNull();
  for (const component of JSON.parse(text).components) {
    expect(component.hashes[0].content).toMatch(/^[0-9a-f]{128}$/);
    expect([component.name, component.licenses?.length]).toEqual([component.name, 1]);
  }
});
