/** Gives the tests of a file a Citus cluster: `openTestDatabase` makes its databases there. */
import { afterAll, beforeAll } from "bun:test";
import { CitusCluster } from "../helpers/postgres/citus_cluster.ts";

const START_TIMEOUT_MS = 120_000;

/** Call at the top of a file. */
export function useCluster(options: { workers?: number } = {}): CitusCluster {
  const cluster = new CitusCluster(options);
  const before = { url: process.env["TEST_DATABASE_URL"], citus: process.env["TEST_CITUS"] };
  beforeAll(async () => {
    await cluster.start();
    setCluster(cluster.urls[0], cluster.urls.join(","));
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    setCluster(before.url, before.citus);
    await cluster[Symbol.asyncDispose]();
  }, START_TIMEOUT_MS);
  return cluster;
}

function setCluster(url: string | undefined, citus: string | undefined): void {
  process.env["TEST_DATABASE_URL"] = url ?? "";
  process.env["TEST_CITUS"] = citus ?? "";
}
