/** Formats the demo credentials and writes them to a file. */
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fields } from "../command/format_output.ts";

export interface DemoCredentials {
  email: string;
  password: string;
  /** API keys. Each key works for all organizations of its owner. */
  keys: Readonly<Record<"owner" | "publisher" | "viewer" | "automation" | "platformAdmin", string>>;
}

interface DemoPlace {
  publicUrl: string;
  orgSlug: string;
  project: { id: string; name: string };
}

/** Formats the credentials with two example commands. */
export function describeCredentials({ email, password, keys }: DemoCredentials, place: DemoPlace): string {
  const { publicUrl, orgSlug, project } = place;
  return [
    "Demo credentials",
    "",
    fields({
      "Sign in, email": email,
      "Sign in, password": password,
      "Owner's key": keys.owner,
      "Publisher's key": keys.publisher,
      "Viewer's key": keys.viewer,
      "Automation key": keys.automation,
      "Platform admin's key": keys.platformAdmin,
    }),
    "",
    "Organizations: demo (pro), harbor-works (enterprise), paper-lantern (free).",
    "A key works for every organization of its owner.",
    `The header "X-Org-Slug: ${orgSlug}" selects the demo organization.`,
    "The platform administrator is not a member of any of them.",
    "",
    `All issues of "${project.name}":`,
    `  curl -H 'Authorization: Bearer ${keys.viewer}' -H 'X-Org-Slug: ${orgSlug}' \\`,
    `    -o issues.ndjson '${publicUrl}/api/v1/export/projects/${project.id}/issues'`,
    `All of "${project.name}" as one ZIP:`,
    `  curl -H 'Authorization: Bearer ${keys.publisher}' -H 'X-Org-Slug: ${orgSlug}' \\`,
    `    -o bundle.zip '${publicUrl}/api/v1/export/projects/${project.id}/bundle'`,
  ].join("\n");
}

/** Writes the text atomically to a file that only the owner can read. */
export async function writeCredentialsFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, `${text}\n`, { mode: 0o600 });
  // The mode above applies only to new files. A draft left by a crash keeps its mode.
  await chmod(draft, 0o600);
  await rename(draft, path);
}
