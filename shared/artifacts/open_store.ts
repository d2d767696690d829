/** Opens the store of finished organization exports at `ARTIFACT_URL`. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../process/config.ts";
import { openArtifactBucket } from "./bucket.ts";
import { openArtifactDirectory } from "./directory.ts";
import type { ArtifactStore } from "./store.ts";

/** Opens the store of a `file://` or `s3://` URL. Reads and creates nothing until the store is used. */
export function openArtifactStore(config: Pick<Config, "artifactUrl" | "s3" | "dataDir">): ArtifactStore {
  const { artifactUrl, s3, dataDir } = config;
  if (!artifactUrl.startsWith("s3://")) return openArtifactDirectory(fileURLToPath(artifactUrl));
  if (!s3) throw new Error("Cannot open the artifact store: the bucket has no credentials");
  const { hostname: bucket, pathname } = new URL(artifactUrl);
  const prefix = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, "");
  return openArtifactBucket({
    ...s3,
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    spoolDirectory: join(dataDir, "downloads"),
  });
}
