/** Records of forks as the API shows them. */
import type { NamedVersion } from "../../../sql/definitions/fields.ts";
import type { ForkedRow } from "../../../sql/definitions/forks.ts";

/** The source id is null if the caller cannot see the source. */
export function presentFork({ id, definitionId, sourceDefinitionId, forkedAt }: ForkedRow["fork"]) {
  return { id, definitionId, sourceDefinitionId, forkedAt };
}

export function presentNamedVersion({ id, type, name, version, authorId, orgId }: NamedVersion) {
  return { id, type, name, version, authorId, orgId };
}
