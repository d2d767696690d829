/** `import`: loads a project bundle or an organization export. */
import { AdminError, type CommandResult, defineCommand, requireOwnTracker } from "../command/command.ts";
import { withThousands } from "../command/format_output.ts";
import { requireOrg } from "../command/lookups.ts";
import { openArchive } from "./archive.ts";
import { type ImportedProject, importProject } from "./import_project.ts";

function countRows({ rowCounts }: ImportedProject): number {
  return Object.values(rowCounts).reduce((sum, rows) => sum + rows, 0);
}

function present(projects: readonly ImportedProject[], seconds: number): CommandResult {
  const rows = projects.reduce((sum, project) => sum + countRows(project), 0);
  const inserted = projects.reduce((sum, project) => sum + project.insertedRows, 0);
  const width = Math.max(7, ...projects.map(({ name }) => name.length));
  const lines = projects.map((project) => {
    const read = withThousands(countRows(project)).padStart(11);
    return `${project.name.padEnd(width)}  ${read}  ${withThousands(project.insertedRows).padStart(11)}  ${project.id}`;
  });
  return {
    json: {
      projects: projects.map(({ id, name, rowCounts }) => ({ id, name, rowCounts })),
    },
    text: [
      `${"Project".padEnd(width)}  ${"Rows".padStart(11)}  ${"New".padStart(11)}  Id`,
      ...lines,
      "",
      `Imported ${withThousands(rows)} rows, ${withThousands(inserted)} of them new, in ${seconds.toFixed(1)} s (${withThousands(Math.round(rows / Math.max(seconds, 0.001)))} rows/s).`,
    ].join("\n"),
  };
}

export const importCommand = defineCommand({
  name: "import",
  about:
    "Loads a project bundle or an organization export (NDJSON) and keeps all ids. Each project is imported completely or not at all. Existing rows with the same content are skipped.",
  flags: {
    org: { placeholder: "S", required: true, about: "slug of the target organization" },
    owner: {
      placeholder: "U",
      about: "username of the member who owns new projects; default: the member with the highest role",
    },
    file: { placeholder: "FILE.zip", required: true, positional: true, about: "bundle or export to import" },
  },
  async run({ sql, config, progress, tick }, values) {
    requireOwnTracker(config, "import");
    const org = await requireOrg(sql, values.org);
    const { entries, projects } = await openArchive(values.file);
    const imported: ImportedProject[] = [];
    const startedAt = performance.now();
    const elapsed = (): number => (performance.now() - startedAt) / 1000;
    let rows = 0;
    for (const [index, project] of projects.entries()) {
      const step = `Importing project ${index + 1} of ${projects.length}, "${project.name}"`;
      progress(step);
      const onRow = (): void => {
        rows += 1;
        tick(
          () => `${step}: ${withThousands(rows)} rows, ${withThousands(Math.round(rows / elapsed()))} rows/s`,
        );
      };
      const source = { org, owner: values.owner, entries, onRow };
      imported.push(
        await sql
          .begin((tx) => importProject(tx, project, source))
          .catch((error: unknown) => {
            throw withImportedCount(error, imported.length);
          }),
      );
    }
    return present(imported, elapsed());
  },
});

function withImportedCount(error: unknown, count: number): unknown {
  if (!(error instanceof AdminError) || count === 0) return error;
  return new AdminError(`${error.message} (imported before: ${count})`);
}
