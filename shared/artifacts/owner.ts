/** The owner of an artifact store: a marker in it names the database whose exports it holds. */
import { isUuid } from "../uuid.ts";
import type { ArtifactStore } from "./store.ts";

export interface ArtifactOwner {
  /** `null` if the marker is unreadable; then the store counts as another database's. */
  installationId: string | null;
  /** Name of the database, for people. */
  database: string | null;
  /** ISO 8601. */
  since: string | null;
}

/** Returns the owner, or `null` if there is none yet. Throws ArtifactStorageError. */
export async function readArtifactOwner(store: ArtifactStore): Promise<ArtifactOwner | null> {
  const text = await store.readMarker();
  return text === null ? null : parseMarker(text);
}

/** Makes the database the owner of a store without one. Returns false if another process was faster. */
export function claimArtifactStore(store: ArtifactStore, owner: ArtifactOwner): Promise<boolean> {
  return store.createMarker(formatMarker(owner));
}

/** Makes the database the owner of the store, replacing any other owner. */
export function adoptArtifactStore(store: ArtifactStore, owner: ArtifactOwner): Promise<void> {
  return store.replaceMarker(formatMarker(owner));
}

function formatMarker(owner: ArtifactOwner): string {
  return `${JSON.stringify(owner, null, 2)}\n`;
}

function parseMarker(text: string): ArtifactOwner {
  const { installationId, database, since } = parseObject(text);
  const orNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return {
    installationId: typeof installationId === "string" && isUuid(installationId) ? installationId : null,
    database: orNull(database),
    since: orNull(since),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
