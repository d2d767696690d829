/** Reads `demo.zip`: an export of seven projects, plus `demo.json` with users, organizations and definitions. */
import { join } from "node:path";
import type {
  DefinitionType,
  DefinitionVisibility,
  OrgRole,
  SubscriptionTier,
} from "../../../shared/vocabulary.ts";
import type { NewAccount } from "../../accounts/create_account.ts";
import type { NewFork } from "../../definitions/forks/fork.ts";
import type { Provenance } from "../../definitions/provenance.ts";
import { type Archive, openArchive, readText } from "../import/archive.ts";
import type { ImportProject } from "../import/import_manifest.ts";

/** Path of the demo bundle, which `bun run demo` generates. */
export const DEMO_FILE = join(import.meta.dir, "demo.zip");

export interface DemoOrg {
  slug: string;
  name: string;
  subscriptionTier: SubscriptionTier;
  /** Members' roles by username. */
  members: Readonly<Record<string, OrgRole>>;
  projects: readonly string[];
}

/** A definition version with its final status. */
export interface DemoVersion {
  type: DefinitionType;
  yaml: string;
  visibility: DefinitionVisibility;
  status: "draft" | "published" | "deprecated" | "archived";
  changeSummary: string;
  provenance: typeof Provenance.static;
  /** Set if `status` is deprecated or archived. */
  deprecation?: { reason: string; successor: string };
}

export interface DemoContent {
  /** Creation time in ISO 8601. No row is newer. Loading shifts all rows by the time elapsed since `madeAt`. */
  madeAt: string;
  users: readonly (Omit<NewAccount, "passwordHash" | "actor"> & { id: string })[];
  orgs: readonly [DemoOrg, ...DemoOrg[]];
  /** Versions of the first organization's definitions. Each version refers only to earlier versions in the list. */
  versions: readonly DemoVersion[];
  /** A fork in another organization. */
  fork: {
    orgSlug: string;
    source: { type: DefinitionType; name: string; version: string };
    wanted: NewFork;
  };
}

export interface DemoBundle extends DemoContent, Archive {}

/** Opens a demo bundle and reads everything except the rows. */
export async function openDemo(path: string): Promise<DemoBundle> {
  const archive = await openArchive(path);
  const content = archive.entries.get("demo.json");
  if (!content) throw new Error(`Cannot load the demo: ${path} has no demo.json`);
  // Not validated, because `bun run demo` generates the file and a test loads it.
  return { ...archive, ...(JSON.parse(await readText(content)) as DemoContent) };
}

export function orgOf({ orgs }: DemoBundle, { id, name }: ImportProject): DemoOrg {
  const org = orgs.find(({ projects }) => projects.includes(id));
  if (!org) throw new Error(`Cannot load the demo: project "${name}" has no organization`);
  return org;
}
