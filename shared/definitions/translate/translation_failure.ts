/** The reasons why a parsed definition cannot be rendered as runtime Markdown. */

export type TranslationFailureReason =
  | "missing_description"
  | "unknown_agent_type"
  | "missing_block"
  | "empty_tasks"
  | "bad_scoring"
  | "missing_invokes"
  | "no_phases"
  | "no_stages"
  | "empty_phase"
  | "empty_stage"
  | "bad_step"
  | "bad_reference"
  | "unknown_dependency"
  | "cycle"
  | "unknown_kind"
  | "too_large";

/** Thrown within the translator. `translateDefinition` returns it as a value. */
export class TranslationFailure extends Error {
  /** The other failures of the same document, so that authors see several problems at once. */
  others: readonly TranslationFailure[] = [];
  readonly reason: TranslationFailureReason;
  /** The path in the document, starting with its root key: `workflow.orchestration.phases[0].steps[1]`. */
  readonly path: string;

  constructor(reason: TranslationFailureReason, path: string, message: string) {
    super(message);
    this.name = "TranslationFailure";
    this.reason = reason;
    this.path = path;
  }
}
