/** The owner of an artifact store: the database whose exports the store contains. A marker file in the store identifies it. */
import { isUuid } from "../uuid.ts";
import type { ArtifactStore } from "./store.ts";

export interface ArtifactOwner {
  /** The owner's installation id; `null` if the marker is unreadable. The store then counts as owned by another database. */
  installationId: string | null;
  /** The name of the owner's database, for people. */
  database: string | null;
  /** The time of the claim, in ISO 8601. */
  since: string | null;
}

/** Returns the store's owner, or `null` if it has none yet. Throws ArtifactStorageError. */
export async function readArtifactOwner(store: ArtifactStore): Promise<ArtifactOwner | null> {
  const text = await store.readMarker();
  return text === null ? null : parseMarker(text);
}

/** Makes the database the owner of a store without an owner. Returns false if another process claimed the store first. */
export function claimArtifactStore(store: ArtifactStore, owner: ArtifactOwner): Promise<boolean> {
  return store.createMarker(formatMarker(owner));
}

/** Makes the database the owner of the store. Replaces any other owner. */
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
