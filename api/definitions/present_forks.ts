/** Records of forks as the API shows them (contract section 5, "Records"). */
import type { ForkRow, NamedVersionRow } from "../../sql/definition_forks.ts";

export function presentFork({ id, definitionId, sourceDefinitionId, forkedAt }: ForkRow) {
  return { id, definitionId, sourceDefinitionId, forkedAt };
}

export function presentNamedVersion({ id, type, name, version, authorId, orgId }: NamedVersionRow) {
  return { id, type, name, version, authorId, orgId };
}
