/** The demo: `demo.zip`, an export of seven projects with a `demo.json` of users, organizations and definitions beside it. */
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

/** Written by `bun run demo`. */
export const DEMO_FILE = join(import.meta.dir, "demo.zip");

export interface DemoOrg {
  slug: string;
  name: string;
  subscriptionTier: SubscriptionTier;
  /** Role by username. */
  members: Readonly<Record<string, OrgRole>>;
  projects: readonly string[];
}

/** A version in its final state. */
export interface DemoVersion {
  type: DefinitionType;
  yaml: string;
  visibility: DefinitionVisibility;
  status: "draft" | "published" | "deprecated" | "archived";
  changeSummary: string;
  provenance: typeof Provenance.static;
  /** Set if it is deprecated or archived. */
  deprecation?: { reason: string; successor: string };
}

export interface DemoContent {
  /** ISO 8601; no row is later. Loading shifts all rows by the time since then. */
  madeAt: string;
  users: readonly (Omit<NewAccount, "passwordHash" | "actor"> & { id: string })[];
  orgs: readonly [DemoOrg, ...DemoOrg[]];
  /** Versions of the first organization; each refers only to earlier ones. */
  versions: readonly DemoVersion[];
  /** A fork in another organization. */
  fork: {
    orgSlug: string;
    source: { type: DefinitionType; name: string; version: string };
    wanted: NewFork;
  };
}

export interface DemoBundle extends DemoContent, Archive {}

/** Opens a bundle and reads everything but the rows. */
export async function openDemo(path: string): Promise<DemoBundle> {
  const archive = await openArchive(path);
  const content = archive.entries.get("demo.json");
  if (!content) throw new Error(`Cannot load the demo: ${path} has no demo.json`);
  // We write the file, and a test loads it.
  return { ...archive, ...(JSON.parse(await readText(content)) as DemoContent) };
}

export function orgOf({ orgs }: DemoBundle, { id, name }: ImportProject): DemoOrg {
  const org = orgs.find(({ projects }) => projects.includes(id));
  if (!org) throw new Error(`Cannot load the demo: project "${name}" has no organization`);
  return org;
}
