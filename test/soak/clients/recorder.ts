/** Clients that record executions with and without a run, and some runs more than once. */
import { ask } from "../ask.ts";
import type { ClientKind } from "../soak.ts";

const WITH_RUN = 0.6;
const REPEATED = 0.3;

interface Recorded {
  data: { recorded: boolean; duplicate: boolean; executionCount: number };
}

export const makeRecorder: ClientKind = (soak, chance) => {
  const { ledgers, world, findings, tally } = soak;
  const { key } = chance.pick(world.recorders);

  /** Sends a record and checks the response. `mayBeThere` is true if the record may already exist. */
  async function record(name: string, mark: string, isRun: boolean, mayBeThere: boolean): Promise<void> {
    ledgers.executions.begin(name, mark);
    const least = ledgers.executions.countAcknowledged(name);
    const answer = await ask(soak, chance, {
      method: "POST",
      path: `/api/v1/definitions/agent/${name}/executions`,
      key,
      body: isRun ? { source: "soak", runId: mark } : { source: mark },
      expects: mayBeThere ? [200, 201] : [201],
    });
    if (!answer || answer.status >= 300) return;
    tally.add("executions");
    ledgers.executions.acknowledge(name, mark);
    const { data } = answer.json<Recorded>();
    if (data.duplicate !== (answer.status === 200) || data.executionCount < least) {
      findings.add("a wrong count", `${name} has ${least} records and says ${JSON.stringify(data)}`);
    }
  }

  return async () => {
    const { name } = chance.pick(world.agents);
    const mark = ledgers.executions.nextMark();
    const isRun = chance.happens(WITH_RUN);
    await record(name, mark, isRun, false);
    // Real clients sometimes repeat a request, whether or not a response arrived.
    if (isRun && chance.happens(REPEATED)) {
      await Promise.all([record(name, mark, true, true), record(name, mark, true, true)]);
    }
  };
};
