/** Artifact names. A name identifies the build that wrote the artifact. */
import { isUuid } from "../shared/uuid.ts";
import type { ExportBuildKey } from "../sql/exports/build_attempts.ts";

/** One build of an attempt. An attempt is built again if a process returns it to the queue at shutdown. */
export interface BuildKey extends ExportBuildKey {
  buildId: string;
}

export function artifactKeyOf({ id, attempt, buildId }: BuildKey): string {
  return `${id}.${attempt}.${buildId}.zip`;
}

/** Returns the build that wrote a file of the artifact store, complete or partial. Returns null for other files. */
export function parseArtifactName(name: string): BuildKey | null {
  const [id = "", attempt = "", buildId = "", extension] = name.split(".");
  if (!isUuid(id) || !/^[1-9]\d{0,8}$/.test(attempt) || !isUuid(buildId) || extension !== "zip") return null;
  return { id, attempt: Number(attempt), buildId };
}
