/** Failures as the terminal shows them. */

/** A reason not to start that the user can act on; shown without a stack. */
export class StartError extends Error {
  override readonly name = "StartRefusal";
}

/** What the terminal shows of a failure: our own message, or the stack of a bug. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOurWording = error instanceof StartError || error.message.startsWith("Cannot ");
  return isOurWording ? error.message : (error.stack ?? error.message);
}
