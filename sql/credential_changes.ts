/**
 * Tells a process which credentials changed, so that it may remember who they stand for. Triggers announce every
 * change by NOTIFY; what is heard is not trusted without a proof that it is all there was to hear.
 */
import type { Log } from "../shared/log.ts";
import type { Pool } from "./pool.ts";

/** The triggers' channel; its messages are ids of keys, sessions and users. */
const CHANNEL = "ulr_credentials";
/** Contract: revoked credentials are refused within a second. */
const PROOF_LASTS_MS = 1_000;
const PROVE_EVERY_MS = 250;
/** No proof for so long is worth a line in the log. */
const SILENCE_MS = 10_000;

export interface CredentialChanges {
  /**
   * Whether every change that was committed a second ago or earlier has been told. Begins to listen when it is first
   * asked, and asks for proofs only while it is being asked itself.
   */
  isCurrent(): boolean;
}

export interface CredentialChangesOptions {
  /** Must lead to the server itself: behind a pooler that shares sessions nothing is heard, and so never current. */
  sql: Pool;
  log: Log;
  /** A credential or a user changed: the id of either. */
  onChange: (id: string) => void;
  /** Changes may have been missed: whatever was known may be wrong. */
  onGap: () => void;
}

/**
 * The proof is a message to ourselves. PostgreSQL delivers messages in the order of their commits, so one that comes
 * back shows that everything committed before it was sent has been told. A connection that is lost, frozen or not
 * listening at all yields none, and no other sign of trouble has to be waited for.
 */
export function followCredentialChanges(options: CredentialChangesOptions): CredentialChanges {
  const { sql, log, onChange, onGap } = options;
  const ownChannel = `${CHANNEL}_${crypto.randomUUID()}`;
  let isListening = false;
  /** Counts the times that listening began, so that no proof reaches over a gap. */
  let era = 0;
  let provenAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  let silentSince: number | null = null;

  const beginEra = (): void => {
    era += 1;
    provenAt = Number.NEGATIVE_INFINITY;
    askedAt = Number.NEGATIVE_INFINITY;
    onGap();
  };
  const hearProof = (message: string): void => {
    const [sentInEra, sentAt] = message.split(" ").map(Number);
    if (sentInEra !== era || sentAt === undefined) return;
    provenAt = Math.max(provenAt, sentAt);
    silentSince = null;
  };

  function listen(): void {
    isListening = true;
    // The driver listens again, on a new connection, when it has lost its own.
    Promise.all([sql.listen(CHANNEL, onChange, beginEra), sql.listen(ownChannel, hearProof, beginEra)]).catch(
      () => {
        isListening = false;
      },
    );
  }

  /** Says once that nothing has come back for long. */
  function noticeSilence(now: number): void {
    if (silentSince === null || now - silentSince <= SILENCE_MS) return;
    silentSince = Number.POSITIVE_INFINITY;
    log.warn(
      { event: "credentials.unheard" },
      "cannot hear of changed credentials: every one is looked up on every request",
    );
  }

  function askForProof(now: number): void {
    askedAt = now;
    silentSince ??= now;
    isAsking = true;
    // Nothing is lost with a message to ourselves, so its commit need not reach the disk.
    sql`select set_config('synchronous_commit', 'off', true), pg_notify(${ownChannel}, ${`${era} ${now}`})`
      .catch(() => {})
      .finally(() => {
        isAsking = false;
      });
  }

  return {
    isCurrent() {
      const now = performance.now();
      if (!isListening) listen();
      if (!isAsking && now - askedAt >= PROVE_EVERY_MS) askForProof(now);
      noticeSilence(now);
      return now - provenAt < PROOF_LASTS_MS;
    },
  };
}
