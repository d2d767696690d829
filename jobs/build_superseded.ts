/** The end of a build that another builder has taken over. */

/** What this builder does has no effect any more: the job's row is another attempt's. */
export class BuildSuperseded extends Error {
  override readonly name = "BuildSuperseded";

  constructor({ id, attempt }: { id: string; attempt: number }) {
    super(`Cannot go on building export job "${id}": attempt ${attempt} is not the running one`);
  }
}
