/** Writes bundle files for the importer, from a database or from given entries. */
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { digestContent } from "../../../shared/artifacts/store.ts";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  NO_FILTERS,
  toVisibility,
} from "../../../shared/exports/datasets.ts";
import { type BundleContents, bundleManifest, entryName } from "../../../shared/exports/manifest.ts";
import { streamZip, textEntry, type ZipEntry } from "../../../shared/exports/zip_stream.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { openExportSnapshot } from "../../../sql/connection/snapshot.ts";
import { streamDatasetFile } from "../../../sql/exports/dataset_file.ts";

const EVERYTHING = toVisibility({ include_deleted: true, include_archived: true, include_superseded: true });
const LINE_FEED = 10;

/**
 * Exports a project's bundle, including deleted, archived and superseded rows. The manifest names an organization that
 * does not exist.
 */
export async function writeProjectBundle(
  path: string,
  { sql, project }: { sql: Pool; project: { id: string; name: string } },
): Promise<void> {
  const asOf = new Date().toISOString();
  const signal = new AbortController().signal;
  const snapshot = await openExportSnapshot(sql, { control: sql, signal });
  const files: BundleContents["files"] = {};
  async function* entries(): AsyncGenerator<ZipEntry, void, void> {
    for (const dataset of EXPORT_DATASET_NAMES) {
      const name = entryName(dataset, "ndjson");
      const selection = {
        trackerSchema: "public",
        projectId: project.id,
        asOf,
        visibility: EVERYTHING,
        filters: NO_FILTERS,
      };
      let rows = 0;
      const lines = streamDatasetFile(snapshot, EXPORT_DATASETS[dataset], {
        format: "ndjson",
        selection,
      });
      async function* counted() {
        for await (const chunk of lines) {
          for (const byte of chunk) if (byte === LINE_FEED) rows += 1;
          yield chunk;
        }
      }
      yield {
        name,
        content: digestContent(counted(), (digest) => {
          files[dataset] = { name, rows, ...digest };
        }),
      };
    }
    const organization = { id: crypto.randomUUID(), slug: "elsewhere", name: "Elsewhere" };
    const contents = {
      asOf,
      since: null,
      deleted: null,
      format: "ndjson" as const,
      project,
      organization,
      visibility: EVERYTHING,
      files,
    };
    yield textEntry("manifest.json", bundleManifest(contents));
  }
  await pipeline(Readable.from(streamZip(entries(), { modifiedAt: asOf })), createWriteStream(path));
  await snapshot.close();
}

/** Writes a ZIP of these entries. */
export async function writeZip(
  path: string,
  entries: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  async function* asEntries(): AsyncGenerator<ZipEntry, void, void> {
    for (const [name, content] of Object.entries(entries)) {
      yield { name, content: oneChunk(typeof content === "string" ? Buffer.from(content) : content) };
    }
  }
  await pipeline(
    Readable.from(streamZip(asEntries(), { modifiedAt: "2026-01-01T00:00:00.000Z" })),
    createWriteStream(path),
  );
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes;
}
