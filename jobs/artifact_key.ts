/** Names of artifacts: whose build made a file can be read off its name. */
import { isUuid } from "../shared/uuid.ts";

/** One build: an attempt may be begun twice, when a process that had to leave gave it back. */
export interface BuildKey {
  /** Of the export job. */
  id: string;
  attempt: number;
  buildId: string;
}

export function artifactKeyOf({ id, attempt, buildId }: BuildKey): string {
  return `${id}.${attempt}.${buildId}.zip`;
}

/** The build that a file of the artifact store comes from, finished or not; `null` for a file that is not ours. */
export function parseArtifactName(name: string): BuildKey | null {
  const [id = "", attempt = "", buildId = "", extension] = name.split(".");
  if (!isUuid(id) || !/^[1-9]\d{0,8}$/.test(attempt) || !isUuid(buildId) || extension !== "zip") return null;
  return { id, attempt: Number(attempt), buildId };
}
