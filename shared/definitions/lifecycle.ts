/** The statuses of a version, and the transitions between them. */
import type { DefinitionStatus } from "../vocabulary.ts";

/** Allowed transitions by status; `archived` is final (docs/contract.md, Definitions). */
const MOVES: Readonly<Record<DefinitionStatus, readonly DefinitionStatus[]>> = {
  draft: ["published"],
  published: ["deprecated"],
  deprecated: ["archived"],
  archived: [],
};

/** Operations on a version, and the statuses that allow them. */
const OPERATIONS = {
  update: ["draft"],
  delete: ["draft"],
  /** Renders the version again. Archived versions stay unchanged. */
  retranslate: ["draft", "published", "deprecated"],
  fork: ["published", "deprecated"],
} as const satisfies Readonly<Record<string, readonly DefinitionStatus[]>>;

export type DefinitionOperation = keyof typeof OPERATIONS;

/** Returns the statuses to which a version with this status can change. */
export function allowedTransitions(status: DefinitionStatus): readonly DefinitionStatus[] {
  return MOVES[status];
}

/** Returns true if a version with this status allows the operation. */
export function allowsOperation(status: DefinitionStatus, operation: DefinitionOperation): boolean {
  const states: readonly DefinitionStatus[] = OPERATIONS[operation];
  return states.includes(status);
}
