/** The bill of materials of a production install, in CycloneDX's JSON. */
import { join } from "node:path";
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { PackageURL } from "packageurl-js";
import parseExpression from "spdx-expression-parse";
import { type LockedPackage, type Lockfile, listProductionPackages } from "./locked_packages.ts";

type PackageJson = Parameters<Contrib.FromNodePackageJson.Builders.ComponentBuilder["makeComponent"]>[0];

const builder = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(
  new Contrib.FromNodePackageJson.Factories.ExternalReferenceFactory(),
  new Contrib.License.Factories.LicenseFactory(parseExpression),
);

/**
 * Describes the service's production packages. Versions and checksums come from the lockfile, and licenses from the
 * installed packages. The same checkout always gives the same text.
 */
export async function describeMaterials(root: string): Promise<string> {
  const lock = Bun.JSONC.parse(await Bun.file(join(root, "bun.lock")).text()) as Lockfile;
  const packages = listProductionPackages(lock);
  const service = await readComponent(join(root, "package.json"), Enums.ComponentType.Application);
  service.bomRef.value = "ulr";
  const components = new Map<string, Models.Component>();
  for (const found of packages) components.set(found.key, await describePackage(root, found));

  for (const name of Object.keys(lock.workspaces[""].dependencies))
    addDependency(service, components.get(name));
  for (const { key, dependencies } of packages) {
    for (const dependency of dependencies) addDependency(components.get(key), components.get(dependency));
  }
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: service }),
    components: new Models.ComponentRepository(components.values()),
  });
  const normalizers = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(normalizers).serialize(bom, { sortLists: true, space: 2 });
}

async function describePackage(root: string, found: LockedPackage): Promise<Models.Component> {
  const { key, name, version, integrity } = found;
  const component = await readComponent(join(root, installedPath(key), "package.json"));
  if (component.version !== version) {
    throw new Error(
      `Package "${key}" is installed as ${component.version}, locked as ${version}. Run \`bun install\`.`,
    );
  }
  const [namespace, base = name] = name.startsWith("@") ? name.split("/") : [undefined, name];
  component.bomRef.value = key;
  component.purl = new PackageURL("npm", namespace, base, version).toString();
  const digest = Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex");
  component.hashes.set(Enums.HashAlgorithm["SHA-512"], digest);
  return component;
}

/** Returns the path of an installed package: `elysia/cookie` → `node_modules/elysia/node_modules/cookie`. */
function installedPath(key: string): string {
  const names = key.match(/@[^/]+\/[^/]+|[^/]+/g) ?? [];
  return names.map((name) => `node_modules/${name}`).join("/");
}

async function readComponent(file: string, type = Enums.ComponentType.Library): Promise<Models.Component> {
  // The file is written by a package manager or by us, so it is not validated.
  const component = builder.makeComponent((await Bun.file(file).json()) as PackageJson, type);
  if (!component) throw new Error(`${file} names no package`);
  return component;
}

function addDependency(from: Models.Component | undefined, to: Models.Component | undefined): void {
  if (from && to) from.dependencies.add(to.bomRef);
}
