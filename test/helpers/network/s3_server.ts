/** An S3-compatible server (s3rver) as a child process on a free port, with its own bucket and folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { S3Config } from "../../../shared/process/s3_config.ts";

const MODULE = fileURLToPath(import.meta.resolve("@20minutes/s3rver"));
/**
 * Prints the port once it listens. The package names a command, and comes without it. It neither lists nor forgets
 * uploads that were not completed, so the program does.
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
  /** The configuration of a service that uses it. */
  config: { artifactUrl: string; s3: S3Config & { endpoint: string } };
  /** The same as environment variables. */
  env: Readonly<Record<string, string>>;
  /** A client for checking the bucket from outside. */
  client: Bun.S3Client;
  /** Stops it and closes all connections. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same content. */
  restart(): Promise<void>;
}

/** Reads the port from the first line of output. */
async function readPort(output: ReadableStream<Uint8Array>): Promise<number> {
  let text = "";
  for await (const chunk of output) {
    text += Buffer.from(chunk).toString();
    if (text.endsWith("\n")) return Number(text);
  }
  throw new Error(`Cannot start s3rver: ${text}`);
}

/** Starts the server, on 127.0.0.1 unless `address` says otherwise; `await using` stops it. */
export async function startS3Server(address = "127.0.0.1"): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-s3-"));
  const spawn = (port: number) => {
    const options = {
      directory,
      address,
      port,
      silent: true,
      configureBuckets: [{ name: BUCKET }],
      // The client below lists "/exports/", but s3rver verifies the signature of "/exports".
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
