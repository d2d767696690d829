/** The error of an export with a time that cannot be written (sql/tracker/tracker_times.ts). */
import { EXPORT_DATASETS, type ExportDatasetName } from "../../shared/exports/datasets.ts";

/** A row with such a time. */
export interface WrongTime {
  dataset: ExportDatasetName;
  /** Name in JSON. */
  column: string;
  id: string;
  time: string;
}

/** Thrown for a row with such a time. The message names the row and says what to do, without a final period. */
export class WrongTimeError extends Error {
  override readonly name = "WrongTimeError";
  readonly row: WrongTime;

  constructor(row: WrongTime, projectId: string) {
    const { dataset, column, id, time } = row;
    super(
      `${column} of row ${id} of ${dataset} is ${time}, outside the years 1 to 9999. Correct it in the tracker, in table ` +
        `"${EXPORT_DATASETS[dataset].table}" of project ${projectId}, then export again`,
    );
    this.row = row;
  }
}
