/** Names of artifacts, which contain the build that made them. */
import { isUuid } from "../shared/uuid.ts";
import type { ExportBuildKey } from "../sql/exports/build_attempts.ts";

/** One build of an attempt. An attempt can start twice, if a process gives it back at shutdown. */
export interface BuildKey extends ExportBuildKey {
  buildId: string;
}

export function artifactKeyOf({ id, attempt, buildId }: BuildKey): string {
  return `${id}.${attempt}.${buildId}.zip`;
}

/** Returns the build of a file in the artifact store, finished or not; null for other files. */
export function parseArtifactName(name: string): BuildKey | null {
  const [id = "", attempt = "", buildId = "", extension] = name.split(".");
  if (!isUuid(id) || !/^[1-9]\d{0,8}$/.test(attempt) || !isUuid(buildId) || extension !== "zip") return null;
  return { id, attempt: Number(attempt), buildId };
}
