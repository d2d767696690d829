/** Abusers who hold stream slots: they start exports and read them very slowly. */
import { type AbuserKind, holdOn } from "../abuse.ts";

const DOWNLOADS = 4;
const HOLD_MS = [5_000, 40_000] as const;

export const makeHolderOfSlots: AbuserKind = (assault) => async () => {
  const { soak, chance, person } = assault;
  const { id } = soak.world.abusedProject;
  await Promise.all(
    Array.from({ length: DOWNLOADS }, () => {
      const file = chance.pick(["runs", "bundle", "runs?format=csv"]);
      const path = `/api/v1/export/projects/${id}/${file}`;
      return holdOn(assault, { path, key: person.key, holdMs: chance.between(...HOLD_MS) });
    }),
  );
};
