/** The dependencies of the app: `Deps` from main.ts, and `OperationDeps` for operations. */
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
  catalog: CatalogCache;
  /** Caches the callers of credentials. */
  callers: CredentialCache;
  metrics: Metrics;
  /** Aborted when the process begins to shut down. */
  shutdownSignal: AbortSignal;
  /**
   * Returns milliseconds since the epoch. If omitted, rate limits use the system clock, and authenticator app codes use the
   * database's clock.
   */
  now?: () => number;
  /** Overrides `STREAM_RULES` in tests. */
  streamRules?: Partial<StreamRules>;
}

declare module "./http/operation.ts" {
  /** `Deps`, and the resources that the app creates from them. */
  interface OperationDeps extends Deps {
    exports: ExportResources;
    signIn: SignInResources;
    turns: Turns;
    writeInTurn: WriteInTurn;
    writeAccountInTurn: WriteInTurn;
    checkDatabase: () => Promise<DatabaseStatus>;
    /** Returns a problem of the artifact store. Readiness ignores it: only new organization exports need the store. */
    findArtifactProblem: () => Promise<ArtifactProblem>;
  }
}
