/** Errors of a start, as shown in the terminal. */

/** An error that the user can fix; shown without a stack. */
export class StartError extends Error {
  override readonly name = "StartRefusal";
}

/** Returns the text for the terminal: the message of our own errors, the stack of a bug. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOurWording = error instanceof StartError || error.message.startsWith("Cannot ");
  return isOurWording ? error.message : (error.stack ?? error.message);
}
