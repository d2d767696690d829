/** Clients that export datasets and bundles, and check row counts and digests. */
import { createHash } from "node:crypto";
import { EXPORT_DATASET_NAMES, type ExportDatasetName } from "../../../shared/exports/datasets.ts";
import { unzip } from "../../helpers/exports/export_job.ts";
import { type Answer, ask } from "../ask.ts";
import type { Chance } from "../chance.ts";
import { countRows } from "../count_rows.ts";
import type { ClientKind, Soak } from "../soak.ts";
import type { World } from "../world.ts";

const BUNDLES = 0.2;
const CSV = 0.3;
/** The share of exports that reuse the cutoff of an earlier export. */
const SAME_CUT = 0.4;
const NOISY = 0.05;

interface Manifest {
  asOf: string;
  rowCounts: Record<ExportDatasetName, number>;
  files: Record<ExportDatasetName, { name: string; rows: number; sha256: string }>;
}

export const makeExporter: ClientKind = (soak, chance) => {
  /** The latest cutoff by project. */
  const cuts = new Map<string, string>();
  return async () => {
    const choice = choose(soak.world, chance, cuts);
    const { projectId, dataset, path } = choice;
    const answer = await ask(soak, chance, { path, ...sender(soak.world, chance), isExport: true });
    if (answer?.status !== 200) return;
    soak.tally.add("exports");
    cuts.set(projectId, answer.headers.get("x-export-as-of") ?? "");
    if (dataset === null) await checkBundle(soak, { ...choice, answer });
    else checkDataset(soak, { ...choice, dataset, answer });
  };
};

/** Chooses a random export. `dataset` is null for a bundle. */
function choose(world: World, chance: Chance, cuts: ReadonlyMap<string, string>) {
  const { id: projectId } = chance.happens(NOISY) ? world.noisy : chance.pick(world.projects);
  const dataset = chance.happens(BUNDLES) ? null : chance.pick(EXPORT_DATASET_NAMES);
  const format = chance.happens(CSV) ? "csv" : "ndjson";
  const cut = chance.happens(SAME_CUT) ? cuts.get(projectId) : undefined;
  const query = new URLSearchParams({ format, ...(cut ? { as_of: cut } : {}) });
  const path = `/api/v1/export/projects/${projectId}/${dataset ?? "bundle"}?${query}`;
  return { projectId, dataset, format, path };
}

function sender({ member }: World, chance: Chance) {
  const encoding = chance.pick(["identity", "gzip", "zstd"]);
  return { key: member.key, headers: { "accept-encoding": encoding } };
}

interface Exported {
  projectId: string;
  format: string;
  answer: Answer;
}

function checkDataset(soak: Soak, given: Exported & { dataset: ExportDatasetName }): void {
  const { projectId, dataset, format, answer } = given;
  const rows = countRows(answer.body, format);
  const announced = Number(answer.headers.get("x-export-total-rows"));
  if (rows !== announced) {
    soak.findings.add("an export is not whole", `${dataset} as ${format}: ${rows} rows of ${announced}`);
  }
  const asOf = answer.headers.get("x-export-as-of") ?? "";
  noteCut(soak, soak.ledgers.exports.add({ projectId, dataset, asOf }, rows));
}

function noteCut({ findings }: Soak, complaint: string | null): void {
  if (complaint) findings.add("exports of one cut differ", complaint);
}

async function checkBundle(soak: Soak, { projectId, format, answer }: Exported): Promise<void> {
  const files = await unzip(new Uint8Array(answer.body).buffer);
  const manifest = JSON.parse(files.get("manifest.json") ?? "null") as Manifest | null;
  if (!manifest) {
    soak.findings.add("an export is not whole", "a bundle without a manifest");
    return;
  }
  for (const dataset of EXPORT_DATASET_NAMES) {
    const file = manifest.files[dataset];
    const content = Buffer.from(files.get(file.name) ?? "");
    const rows = countRows(content, format);
    // Reading the file as text drops the byte order mark, which the digest includes.
    const hashed = format === "csv" ? Buffer.concat([Buffer.from("\uFEFF"), content]) : content;
    if (rows !== file.rows || createHash("sha256").update(hashed).digest("hex") !== file.sha256) {
      soak.findings.add("an export is not whole", `${file.name} of a bundle: ${rows} rows of ${file.rows}`);
    }
    noteCut(soak, soak.ledgers.exports.add({ projectId, dataset, asOf: manifest.asOf }, rows));
  }
}
