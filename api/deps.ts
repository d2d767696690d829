/** The parts of the app: what main.ts makes, and what operations get. */
import type { ArtifactProblem } from "../sql/monitoring/artifact_status.ts";
import type { DatabaseStatus } from "../sql/monitoring/readiness.ts";
import type { OpenProcess } from "../sql/open_process.ts";
import type { SignInResources } from "./accounts/sign_in/sign_in_resources.ts";
import type { Documents } from "./documents/documents.ts";
import type { ExportResources } from "./exports/export_resources.ts";
import type { CredentialCache } from "./http/credential_cache.ts";
import type { Metrics } from "./http/metrics.ts";
import type { StreamRules } from "./http/response/stream.ts";
import type { CatalogCache } from "./models/catalog_cache.ts";
import type { Turns, WriteInTurn } from "./turns.ts";

export interface Deps extends Omit<OpenProcess, "host" | "close"> {
  /** The reader of definition documents. */
  documents: Documents;
  /** The model catalog. */
  catalog: CatalogCache;
  /** Finds the caller of a request. */
  callers: CredentialCache;
  metrics: Metrics;
  /** Aborted when the process is about to stop. */
  shutdownSignal: AbortSignal;
  /**
   * Milliseconds since the epoch, for the rate limits and the codes of apps. If omitted, the machine's clock for the limits,
   * and the database's for the codes.
   */
  now?: () => number;
  /** Overrides STREAM_RULES, for tests. */
  streamRules?: Partial<StreamRules>;
}

declare module "./http/operation.ts" {
  /** The parts, and what the app builds from them. */
  interface OperationDeps extends Deps {
    exports: ExportResources;
    signIn: SignInResources;
    turns: Turns;
    writeInTurn: WriteInTurn;
    writeAccountInTurn: WriteInTurn;
    checkDatabase: () => Promise<DatabaseStatus>;
    /** Does not affect readiness: only new organization exports depend on the store. */
    findArtifactProblem: () => Promise<ArtifactProblem>;
  }
}
