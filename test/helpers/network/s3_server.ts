/** Runs an S3-compatible server (s3rver) as a child process on a free port, with its own bucket and folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { S3Config } from "../../../shared/process/s3_config.ts";

const MODULE = fileURLToPath(import.meta.resolve("@20minutes/s3rver"));
/**
 * The program of the child process, which prints its port once it listens. The package's manifest names a command, but
 * the package lacks that file. s3rver can neither list nor abort incomplete multipart uploads, so the program adds
 * both.
 */
const PROGRAM = `
  const { readdir, readFile, rm, stat } = require("node:fs/promises");
  const [module, options] = process.argv.slice(1);
  const S3rver = require(module);
  const server = new S3rver(JSON.parse(options));
  const folderOf = (bucket) => server.store.getResourcePath(bucket, undefined, "uploads");
  async function listUploads(bucket, prefix) {
    const ids = await readdir(folderOf(bucket)).catch(() => []);
    const uploads = await Promise.all(ids.map(async (UploadId) => {
      const path = folderOf(bucket) + "/" + UploadId + "/key";
      const Key = await readFile(path, "utf8").catch(() => "");
      return { Key, UploadId, Initiated: Key && (await stat(path)).mtime.toISOString() };
    }));
    return uploads.filter(({ Key }) => Key && Key.startsWith(prefix));
  }
  server.middleware.splice(2, 0, async (ctx, next) => {
    const bucket = ctx.path.split("/")[1];
    const { uploads, prefix = "", uploadId } = ctx.query;
    if (ctx.method === "GET" && uploads !== undefined) {
      const Upload = await listUploads(bucket, prefix);
      ctx.body = { ListMultipartUploadsResult: { IsTruncated: false, Upload } };
    } else if (ctx.method === "DELETE" && uploadId) {
      await rm(folderOf(bucket) + "/" + uploadId, { recursive: true, force: true });
      ctx.status = 204;
    } else await next();
  });
  server.run().then(({ port }) => console.log(port));`;
const BUCKET = "exports";

export interface S3Server extends AsyncDisposable {
  /** The configuration of a service that uses the server. */
  config: { artifactUrl: string; s3: S3Config & { endpoint: string } };
  /** The configuration as environment variables. */
  env: Readonly<Record<string, string>>;
  /** A client with which a test inspects the bucket. */
  client: Bun.S3Client;
  /** Kills the server and closes all of its connections. */
  kill(): Promise<void>;
  /** Starts the server again, on the same port and with the same content. */
  restart(): Promise<void>;
}

/** Reads the port from the first line of the output. */
async function readPort(output: ReadableStream<Uint8Array>): Promise<number> {
  let text = "";
  for await (const chunk of output) {
    text += Buffer.from(chunk).toString();
    if (text.endsWith("\n")) return Number(text);
  }
  throw new Error(`Cannot start s3rver: ${text}`);
}

/** Starts the server on `address`. `await using` stops the server. */
export async function startS3Server(address = "127.0.0.1"): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-s3-"));
  const spawn = (port: number) => {
    const options = {
      directory,
      address,
      port,
      silent: true,
      configureBuckets: [{ name: BUCKET }],
      // The client below lists "/exports/", but s3rver verifies the signature for "/exports".
      allowMismatchedSignatures: true,
    };
    return Bun.spawn([process.execPath, "-e", PROGRAM, MODULE, JSON.stringify(options)], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
  };
  let child = spawn(0);
  const port = await readPort(child.stdout);
  // The only credentials that s3rver accepts.
  const keys = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  const s3 = {
    endpoint: `http://${address}:${port}`,
    region: "us-east-1",
    credentials: { type: "static" as const, ...keys, sessionToken: null },
  };
  const artifactUrl = `s3://${BUCKET}/org/exports`;
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return {
    config: { artifactUrl, s3 },
    env: {
      ARTIFACT_URL: artifactUrl,
      S3_ENDPOINT: s3.endpoint,
      S3_REGION: s3.region,
      S3_ACCESS_KEY_ID: keys.accessKeyId,
      S3_SECRET_ACCESS_KEY: keys.secretAccessKey,
    },
    client: new Bun.S3Client({ endpoint: s3.endpoint, region: s3.region, ...keys, bucket: BUCKET }),
    kill,
    async restart() {
      child = spawn(port);
      await readPort(child.stdout);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
