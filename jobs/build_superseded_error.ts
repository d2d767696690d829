/** The error that stops a superseded build. */

/** The job's row no longer belongs to this attempt: the job was canceled, or another builder has taken over. */
export class BuildSuperseded extends Error {
  override readonly name = "BuildSuperseded";

  constructor({ id, attempt }: { id: string; attempt: number }) {
    super(`Cannot go on building export job "${id}": attempt ${attempt} is not the running one`);
  }
}
