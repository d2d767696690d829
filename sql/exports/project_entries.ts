/** Yields the eight dataset files of a project as archive entries, read from one snapshot. */
import { digestContent } from "../../shared/artifacts/store.ts";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { DELETED_ENTRY, entryName, type ProjectContents } from "../../shared/exports/manifest.ts";
import type { ZipEntry } from "../../shared/exports/zip_stream.ts";
import type { ExportSnapshot } from "../connection/snapshot.ts";
import type { RowMeter } from "./copy_rows.ts";
import { type DatasetFileOptions, streamDatasetFile } from "./dataset_file.ts";
import { streamDeletedFile } from "./deleted_rows.ts";

export interface ProjectEntriesOptions extends Pick<DatasetFileOptions, "selection" | "format"> {
  /** Counts the rows of all dataset files as they are sent. */
  meter: RowMeter;
  /** Directory of the files in the archive. Default: the root. */
  directory?: string;
}

/** Yields the entries one after the other, and adds each finished entry to `contents`. */
export async function* projectEntries(
  snapshot: ExportSnapshot,
  contents: ProjectContents,
  options: ProjectEntriesOptions,
): AsyncGenerator<ZipEntry, void, void> {
  const { format, meter, directory, selection } = options;
  const pathOf = (name: string): string => (directory === undefined ? name : `${directory}/${name}`);
  for (const dataset of EXPORT_DATASET_NAMES) {
    const rowsBefore = meter.rows;
    const content = streamDatasetFile(snapshot, EXPORT_DATASETS[dataset], { selection, format, meter });
    const name = entryName(dataset, format);
    yield {
      name: pathOf(name),
      content: digestContent(content, (digest) => {
        contents.files[dataset] = { name, rows: meter.rows - rowsBefore, ...digest };
      }),
    };
  }
  if (!selection.since) return;
  const deleted: RowMeter = { rows: 0 };
  const increment = { ...selection, since: selection.since };
  const content = streamDeletedFile(snapshot, { increment, format: "ndjson", meter: deleted });
  yield {
    name: pathOf(DELETED_ENTRY),
    content: digestContent(content, (digest) => {
      contents.deleted = { name: DELETED_ENTRY, rows: deleted.rows, ...digest };
    }),
  };
}
