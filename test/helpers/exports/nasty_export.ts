/** Saves an export of nasty texts to files that other programs read. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NASTY_TEXTS } from "../definitions/nasty_text.ts";
import { openTestApp } from "../http/app.ts";
import { exportDataset } from "./export_project.ts";

export interface NastyExport extends AsyncDisposable {
  directory: string;
  /** The reasons of the status changes, oldest first; one is null. */
  reasons: readonly (string | null)[];
  /** The paths of the exported `status-history` dataset, by format. */
  files: Readonly<Record<"ndjson" | "csv", string>>;
}

/** Exports status changes with nasty texts as their reasons; `await using` removes the files. */
export async function saveNastyExport(): Promise<NastyExport> {
  const reasons = [...NASTY_TEXTS.filter((text) => text.length <= 1000), null];
  const directory = await mkdtemp(join(tmpdir(), "ulr-readers-"));
  await using app = await openTestApp();
  const person = await app.make.person();
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const issue = await app.make.issue({ projectId: project.id });
  for (const [index, reason] of reasons.entries()) {
    const changedAt = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString();
    await app.make.statusChange({ projectId: project.id, issueId: issue.id, reason, changedAt });
  }
  const save = async (format: "ndjson" | "csv"): Promise<string> => {
    const path = join(directory, `status-history.${format}`);
    const response = await exportDataset(app, { person, project }, "status-history", `?format=${format}`);
    await Bun.write(path, await response.arrayBuffer());
    return path;
  };
  return {
    directory,
    reasons,
    files: { ndjson: await save("ndjson"), csv: await save("csv") },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}
