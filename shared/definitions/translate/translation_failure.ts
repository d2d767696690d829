/** Why a definition that parses cannot be written as runtime Markdown. */

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

/** Thrown inside the translator, answered as a value by `translateDefinition`. */
export class TranslationFailure extends Error {
  /** What else is missing: authors want to know everything at once. */
  others: readonly TranslationFailure[] = [];
  readonly reason: TranslationFailureReason;
  /** Where in the document, beginning with its root key: `workflow.orchestration.phases[0].steps[1]`. */
  readonly path: string;

  constructor(reason: TranslationFailureReason, path: string, message: string) {
    super(message);
    this.name = "TranslationFailure";
    this.reason = reason;
    this.path = path;
  }
}
