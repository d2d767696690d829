/** The peer for exports on Node.js: Fastify, node-postgres, pg-query-stream, fast-csv and archiver. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { type Readable, Transform } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipArchive } from "archiver";
import { format as formatCsv } from "fast-csv";
import Fastify from "fastify";
import pg from "pg";
import QueryStream from "pg-query-stream";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDatasetName,
} from "../../../shared/exports/datasets.ts";
import { CALLER, countStatement, rowsStatement } from "./statements.ts";

/** The compression level of `zip -6`, which is also zlib's default. */
const ZIP_LEVEL = 6;
const BEGIN = "begin isolation level repeatable read read only";
const CONTENT_TYPES = { ndjson: "application/x-ndjson", csv: "text/csv" } as const;

type Asked = Pick<PeerExport, "format"> & { as_of: string };

const pool = openPeerPool();
const app = Fastify();

app.get("/health/ready", async () => ({ data: { status: "ready" } }));

app.get<{ Params: { project: string }; Querystring: Asked }>(
  "/api/v1/export/projects/:project/issues",
  async ({ params: { project }, query: { format, as_of: asOf }, headers: { authorization } }, reply) => {
    if (!(await mayExport(pool, { project, authorization }))) return reply.code(404).send();
    const client = await pool.connect();
    await client.query(BEGIN);
    const { rows } = await client.query(countStatement("issues"), [project, asOf]);
    const text = streamRows(client, { dataset: "issues", project, asOf, format });
    text.on("close", () => release(client));
    return reply.type(CONTENT_TYPES[format]).header("x-total-rows", rows[0].total).send(text);
  },
);

app.get<{ Params: { project: string }; Querystring: Asked }>(
  "/api/v1/export/projects/:project/bundle",
  async ({ params: { project }, query: { format, as_of: asOf }, headers: { authorization } }, reply) => {
    if (!(await mayExport(pool, { project, authorization }))) return reply.code(404).send();
    const archive = new ZipArchive({ zlib: { level: ZIP_LEVEL } });
    appendProjects(archive, { projects: [project], format, asOf }).catch((error) => archive.destroy(error));
    return reply.type("application/zip").send(archive);
  },
);

/** Does the work of a job runner without a queue: builds a file and responds when the file is complete. */
app.post<{ Body: { projects: string[]; format: PeerExport["format"]; asOf: string; path: string } }>(
  "/builds",
  async ({ body: { path, ...asked } }) => {
    const archive = new ZipArchive({ zlib: { level: ZIP_LEVEL } });
    const file = archive.pipe(createWriteStream(path));
    await Promise.all([appendProjects(archive, asked), finished(file)]);
    return { data: { bytes: archive.pointer() } };
  },
);

/**
 * Adds the datasets of the projects to the archive one after another, because a connection can have only one cursor at
 * a time.
 */
async function appendProjects(
  archive: ZipArchive,
  { projects, format, asOf }: { projects: readonly string[]; format: PeerExport["format"]; asOf: string },
): Promise<void> {
  const client = await pool.connect();
  try {
    for (const project of projects) {
      await client.query(BEGIN);
      for (const dataset of EXPORT_DATASET_NAMES) {
        const entered = once(archive, "entry");
        const text = streamRows(client, { dataset, project, asOf, format });
        archive.append(text, { name: `${project}/${dataset}.${format}` });
        await entered;
      }
      await client.query("commit");
    }
    await archive.finalize();
  } finally {
    client.release();
  }
}

async function release(client: pg.PoolClient): Promise<void> {
  await client.query("commit");
  client.release();
}

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });

/** Rows per fetch from the cursor. 100 rows (the default) and 10,000 rows cost the same CPU time. */
const BATCH_ROWS = 1000;
const POOL_MAX = 10;

export interface PeerExport {
  dataset: ExportDatasetName;
  project: string;
  asOf: string;
  format: "ndjson" | "csv";
}

/** Opens a pool that returns `bigint` and `numeric` values as numbers, like the service's pool. */
export function openPeerPool(): pg.Pool {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);
  return new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: POOL_MAX });
}

/** Streams the rows of a dataset as text from a cursor. The client must be in a transaction and otherwise idle. */
export function streamRows(client: pg.PoolClient, { dataset, project, asOf, format }: PeerExport): Readable {
  const query = new QueryStream(rowsStatement(dataset), [project, asOf], {
    batchSize: BATCH_ROWS,
  });
  const rows = client.query(query);
  const text = format === "csv" ? csvLines(dataset) : jsonLines();
  rows.on("error", (error) => text.destroy(error));
  return rows.pipe(text);
}

function jsonLines(): Transform {
  return new Transform({
    writableObjectMode: true,
    transform: (row, _, done) => done(null, `${JSON.stringify(row)}\n`),
  });
}

function csvLines(dataset: ExportDatasetName): Transform {
  return formatCsv<Record<string, unknown>, Record<string, unknown>>({
    headers: EXPORT_DATASETS[dataset].columns.map(({ name }) => name),
    alwaysWriteHeaders: true,
    writeBOM: true,
    includeEndRowDelimiter: true,
    rowDelimiter: "\r\n",
    transform: writeCells,
  });
}

/** Formats dates and objects, because fast-csv would convert them with `toString()`. */
function writeCells(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row)) {
    if (value instanceof Date) row[name] = value.toISOString();
    else if (typeof value === "object" && value !== null) row[name] = JSON.stringify(value);
  }
  return row;
}

const PROJECT = {
  name: "project",
  text: `select p.id, p.name
    from projects p
    join organization_members m on m.org_id = p.org_id
    where p.id = $1 and p.deleted_at is null and m.user_id = $2`,
};

/** Returns true if the key is valid and its user may see the project. */
export async function mayExport(
  pool: pg.Pool,
  { project, authorization = "" }: { project: string; authorization?: string | undefined },
): Promise<boolean> {
  const [, secret = ""] = /^Bearer (ulr_[\w-]+)$/.exec(authorization) ?? [];
  const hash = createHash("sha256").update(secret).digest();
  const { rows: callers } = await pool.query({ ...CALLER, values: [hash] });
  if (!callers[0]) return false;
  const { rows } = await pool.query({ ...PROJECT, values: [project, callers[0].userId] });
  return rows.length === 1;
}
