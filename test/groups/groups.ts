/**
 * Groups of tests that need system programs. All other tests need only the packages in the lockfile. This file imports
 * no package.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isInstalled } from "./is_installed.ts";
import { findFault, PROGRAMS, type ProgramName } from "./programs.ts";

export interface TestGroup {
  name: string;
  /** Glob patterns of the group's test files, relative to the repository's root. */
  files: readonly string[];
  programs: readonly ProgramName[];
  /** A folder with its own package.json, for packages that only this group needs. */
  folder?: string;
  /** Returns another missing requirement with its Debian package; null if all are met. */
  findLack?: () => Lack | null;
}

interface Lack {
  fault: string;
  package?: string;
}

const ROOT = join(import.meta.dir, "../..");

/** Debian's program folder of the PostgreSQL version that Citus is built for. */
export const CITUS_BIN_DIRECTORY = "/usr/lib/postgresql/15/bin";

export const TEST_GROUPS: readonly TestGroup[] = [
  { name: "browser", files: ["test/browser/**"], programs: ["Chromium"] },
  {
    name: "readers",
    files: [
      "test/api/exports/bundle/programs_test.ts",
      "test/api/exports/dataset/programs_test.ts",
      "test/jobs/send_export_ready/programs_test.ts",
      "test/shared/exports/zip_stream/programs_test.ts",
      "test/system/archive_readers_test.ts",
    ],
    programs: ["7-Zip", "Java", "jq", "LibreOffice", "Python", "unzip"],
  },
  {
    name: "samples",
    files: [
      "test/jobs/webhooks/deliver_webhooks/receiver_sample_test.ts",
      "test/workspace/ci_test.ts",
      "test/workspace/cost_document_test.ts",
      "test/workspace/increments_document_test.ts",
    ],
    programs: ["curl", "jq", "Python", "unzip"],
  },
  {
    name: "patches",
    files: ["test/api/documents/compare_documents/programs_test.ts"],
    programs: ["git"],
  },
  {
    name: "digests",
    files: ["test/shared/definitions/hash_definition/programs_test.ts"],
    programs: ["Python"],
    findLack: findMissingPyYaml,
  },
  {
    name: "clients",
    files: ["test/api/openapi/document/generated_clients_test.ts"],
    programs: [],
    folder: "test/fixtures/clients",
  },
  { name: "alerts", files: ["test/system/alerts_test.ts"], programs: ["promtool"] },
  {
    name: "disks",
    files: ["test/faults/full_*_test.ts", "test/shared/artifacts/directory/root_test.ts"],
    programs: ["mount"],
    findLack: findMissingRoot,
  },
  {
    name: "hosts",
    files: ["test/hosts/**"],
    programs: ["curl", "iproute2", "nginx", "PgBouncer", "PostgreSQL", "systemd"],
    findLack: findMissingRoot,
  },
  {
    name: "citus",
    files: ["test/citus/**"],
    programs: ["iproute2"],
    findLack: () =>
      existsSync(`${CITUS_BIN_DIRECTORY}/../lib/citus.so`)
        ? null
        : { fault: "Citus for PostgreSQL 15, which is no package of Debian's: https://docs.citusdata.com" },
  },
];

/** Root is required to create network namespaces and mount file systems. */
function findMissingRoot(): Lack | null {
  return process.getuid?.() === 0 ? null : { fault: "root" };
}

function findMissingPyYaml(): Lack | null {
  const hasPyYaml =
    Bun.which("python3") !== null &&
    Bun.spawnSync(["python3", "-c", "import yaml"], { stderr: "ignore" }).success;
  return hasPyYaml ? null : { fault: "PyYAML", package: "python3-yaml" };
}

/** A group that cannot run on this machine, with the reasons. */
export interface MissingGroup extends TestGroup {
  /** Requirements that are missing, wrong or too old. */
  faults: readonly string[];
  /** Debian packages that provide the missing requirements. */
  packages: readonly string[];
}

/** Lists the groups that cannot run with these environment variables. */
export function listMissingGroups(env: NodeJS.ProcessEnv): MissingGroup[] {
  return TEST_GROUPS.flatMap((group) => {
    const wrong = group.programs.flatMap((name): Lack[] => {
      const fault = findFault(name, env);
      return fault === null ? [] : [{ fault, package: PROGRAMS[name].package }];
    });
    wrong.push(...[group.findLack?.() ?? []].flat());
    const isLacking = group.folder !== undefined && !isInstalled(join(ROOT, group.folder));
    const packages = isLacking ? [`packages (bun install --cwd ${group.folder})`] : [];
    const faults = [...wrong.map(({ fault }) => fault), ...packages];
    return faults.length === 0
      ? []
      : [{ ...group, faults, packages: wrong.flatMap((one) => one.package ?? []) }];
  });
}
