/** Creates the `README.md` and `schema.json` of an archive, which describe the archive to people and programs. */
import type { ExportFormat } from "../vocabulary.ts";
import { canExceed } from "./column.ts";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS, type ExportDatasetName } from "./datasets.ts";
import { type BundleContents, entryName, type ManifestHead } from "./manifest.ts";
import { rowJsonSchema } from "./row_schema.ts";

const CONTENTS: Readonly<Record<ExportDatasetName, string>> = {
  issues: "Findings, one row per issue",
  "issue-notes": "Notes on issues",
  "status-history": "Status changes of issues",
  occurrences: "Sightings of an issue in a run",
  runs: "Runs of the agents",
  "agent-snapshots": "Agents of a run: score, decision, model, tokens",
  "analysis-summaries": "Summaries of a run, one row per agent",
  "analysis-records": "Records behind the summaries",
};

/** Increments omit unchanged parents, so references are resolved in the copy. */
const describeJoins = ({ since }: ManifestHead): string => `## How the files join

Ids are unique within a project, so key rows of several projects by project and id. The project's id is in \`manifest.json\`.

- \`issueId\` of issue-notes, status-history and occurrences is \`id\` of issues.
- \`runId\` of occurrences, agent-snapshots, analysis-summaries and analysis-records is \`id\` of runs.

These always find their row${since === null ? "" : " in the copy"}. Other references, such as \`firstSeenRunId\` and \`runId\` of status-history, may name
a row that is excluded.`;

/** The maximum number of characters in a cell of Excel. */
const MAX_CELL_LENGTH = 32_767;

const HOW_TO_OPEN = "## How to open the files";
const OPEN: Readonly<Record<ExportFormat, string>> = {
  ndjson: `Each line is one JSON object with every column. Nulls are kept, and JSON columns are nested.

\`\`\`sh
jq -r 'select(.status == "open") | .title' issues.ndjson
duckdb -c "select status, count(*) from 'issues.ndjson' group by status"
\`\`\`

For a spreadsheet, export as CSV.
`,
  csv: `The files are UTF-8 with a header row. They open in Excel, LibreOffice and Google Sheets. An empty field is null, \`""\` an empty
text. Text that starts with \`=\`, \`+\`, \`-\`, \`@\`, one of their full-width forms (\`＝\`, \`＋\`, \`－\`, \`＠\`), a tab or a line break
has a leading \`'\`, so that spreadsheets do not run it. JSON is unchanged.

\`\`\`sh
duckdb -c "select status, count(*) from 'issues.csv' group by status"
\`\`\`

CSV does not keep every value. To load the data into programs, export as NDJSON.

Spreadsheets cut text off after ${MAX_CELL_LENGTH.toLocaleString("en")} characters. Python's \`csv\` module refuses more than 131,072, unless the program calls
\`csv.field_size_limit(2**31 - 1)\` first. Longer text is possible in these columns:

${describeLongColumns()}
`,
  parquet: `The files are Apache Parquet, compressed with zstd. Nulls are kept, times are in UTC, and JSON columns are JSON text. DuckDB,
pandas, Polars and Spark read them.

\`\`\`sh
duckdb -c "select status, count(*) from 'issues.parquet' group by status"
\`\`\`

For a spreadsheet, export as CSV.
`,
};

/** Returns the text of a project's README.md. The output is deterministic. */
export function projectReadme(bundle: Omit<BundleContents, "deleted">): string {
  const rows = EXPORT_DATASET_NAMES.map((dataset) => {
    const file = bundle.files[dataset];
    return `| ${entryName(dataset, bundle.format)} | ${file?.rows ?? 0} | ${CONTENTS[dataset]} |`;
  });
  return [
    `# Export of ${escapeMarkdown(bundle.project.name)}`,
    `Issue-tracker data of the project ${escapeMarkdown(bundle.project.name)}, ${describeHead(bundle)}`,
    `## Files\n\n| File | Rows | Contents |\n|---|---|---|\n${rows.join("\n")}`,
    OTHER_FILES,
    ...describeIncrement(bundle, ""),
    describeJoins(bundle),
    HOW_TO_OPEN,
    OPEN[bundle.format],
  ].join("\n\n");
}

/** Returns the text of an organization export's README.md. Only the manifest lists the projects, because there may be thousands. */
export function organizationReadme(contents: ManifestHead & { projects: number }): string {
  const rows = EXPORT_DATASET_NAMES.map(
    (dataset) => `| ${entryName(dataset, contents.format)} | ${CONTENTS[dataset]} |`,
  );
  const count = contents.projects === 1 ? "1 project" : `${contents.projects} projects`;
  return [
    `# Export of ${escapeMarkdown(contents.organization.name)}`,
    `Issue-tracker data of ${count}, ${describeHead(contents)}`,
    `Each project has a directory, named after the project and its id. \`manifest.json\` lists them. Deleted projects are excluded.`,
    `## Files of a project\n\n| File | Contents |\n|---|---|\n${rows.join("\n")}`,
    OTHER_FILES,
    ...describeIncrement(contents, GONE_PROJECTS),
    describeJoins(contents),
    HOW_TO_OPEN,
    "Run the commands in the directory of a project.",
    OPEN[contents.format],
  ].join("\n\n");
}

/** Lists the columns of each file whose text may be longer than a spreadsheet cell. */
function describeLongColumns(): string {
  const lines = EXPORT_DATASET_NAMES.map((dataset) => {
    const long = EXPORT_DATASETS[dataset].columns.filter((column) => canExceed(column, MAX_CELL_LENGTH));
    return `- ${entryName(dataset, "csv")}: ${long.map(({ name }) => `\`${name}\``).join(", ")}`;
  });
  return lines.join("\n");
}

const OTHER_FILES = `\`schema.json\` has the JSON Schema of a row of each dataset. \`manifest.json\` has the rows, bytes and SHA-256 of every file.`;

/** Returns instructions for applying an increment; empty for a full export. */
function describeIncrement({ since, asOf }: ManifestHead, gone: string): string[] {
  if (since === null) return [];
  return [
    `## How to apply this increment

It has only rows that changed after ${since}. Apply it to a copy that is as of ${since}, increments in their order:
${gone}
- Delete the rows that \`deleted.ndjson\` lists, by project, dataset and id. They were deleted, moved to another project, or are
  excluded now.
- Then insert the rows of each file, or replace those with the same project and id.

A row that moved is in \`deleted.ndjson\` of the project it left and in the files of the other one: with the id alone as the key,
it can be lost. The copy is then as of ${asOf}, which is \`since\` of the next increment.`,
  ];
}

/** Additional instructions for an increment of an organization. */
const GONE_PROJECTS = `
- Delete the rows of projects that \`manifest.json\` does not list.
- Take a full bundle of listed projects that the copy does not have: they are new or were restored.`;

function describeHead({ asOf, organization, visibility }: ManifestHead): string {
  const excluded = [
    ...(visibility.includeDeleted ? [] : ["deleted issues"]),
    ...(visibility.includeArchived ? [] : ["archived runs"]),
    ...(visibility.includeSuperseded ? [] : ["superseded analyses"]),
    ...(visibility.includeResolved ? [] : ["resolved issues"]),
  ];
  const also =
    excluded.length === 0 ? "" : ` Also excluded: ${excluded.join(", ")}, and the rows that belong to them.`;
  return [
    `organization ${escapeMarkdown(organization.name)} (${organization.slug}), as of ${asOf}.`,
    `Rows created later are not included.${also}`,
  ].join("\n");
}

/** Escapes a name chosen by a user, so that it stays on one line and contains no markup. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").replace(/[\\`*[\]|<>&]/g, "\\$&");
}

/** Returns the text of `schema.json`, which contains the JSON Schema of each dataset's rows. */
export function schemaFile(): string {
  const schemas = EXPORT_DATASET_NAMES.map((name) => [name, rowJsonSchema(EXPORT_DATASETS[name])]);
  return `${JSON.stringify(Object.fromEntries(schemas), null, 2)}\n`;
}
