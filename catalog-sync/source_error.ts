/** Why there is no catalogue to be had from a source. The message holds no secret: it is logged and stored. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}
