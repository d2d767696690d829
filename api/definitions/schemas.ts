/** What several routes of definitions say of their bodies. */

/** Unknown keys are ignored (contract section 5); Elysia would refuse them. */
export const OPEN = { additionalProperties: true };
