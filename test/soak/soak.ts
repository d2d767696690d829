/** The state that all clients and checks of a run share. */
import type { TestDatabase } from "../helpers/postgres/database.ts";
import type { Chance } from "./chance.ts";
import type { Findings } from "./findings.ts";
import type { AbuseLedger } from "./ledgers/abuse_ledger.ts";
import type { DefinitionLedger } from "./ledgers/definition_ledger.ts";
import type { ExecutionLedger } from "./ledgers/execution_ledger.ts";
import type { ExportLedger } from "./ledgers/export_ledger.ts";
import type { JobLedger } from "./ledgers/job_ledger.ts";
import type { KeyLedger } from "./ledgers/key_ledger.ts";
import type { LatencyLedger } from "./ledgers/latency_ledger.ts";
import type { SoakOptions } from "./options.ts";
import type { Outages } from "./outages.ts";
import type { Service } from "./service.ts";
import type { Tally } from "./tally.ts";
import type { World } from "./world.ts";

/** The ledgers of the responses that clients received, by subject. */
export interface Ledgers {
  definitions: DefinitionLedger;
  executions: ExecutionLedger;
  exports: ExportLedger;
  jobs: JobLedger;
  keys: KeyLedger;
}

/** The sender of a client's requests. */
export interface Sender {
  /** The kind of client, such as `reader`. */
  kind: string;
  /** Returns the address for the next request. An honest client stands for several people, so its address changes. */
  nextAddress(): string;
}

export interface Soak {
  options: SoakOptions;
  db: TestDatabase;
  /** The data directory of the processes. */
  dataDir: string;
  world: World;
  ledgers: Ledgers;
  /** The API processes. */
  apis: readonly Service[];
  runners: readonly Service[];
  outages: Outages;
  findings: Findings;
  tally: Tally;
  latencies: LatencyLedger;
  abuse: AbuseLedger;
  /** The client that sends the requests. */
  sender: Sender;
  /** Aborted when the load ends. */
  over: AbortSignal;
}

/** One step of a client, which is repeated until the load ends. Throws if the client cannot continue. */
export type Step = () => Promise<void>;
/** Creates a client. `number` is its index among the clients of this kind. */
export type ClientKind = (soak: Soak, chance: Chance, number: number) => Step;
