/** The abusers of a hostile run: the number and the pauses of each kind. */
import { setTimeout as delay } from "node:timers/promises";
import type { AbuserKind } from "./abuse.ts";
import { makeBigWriter } from "./abusers/big_writer.ts";
import { makeCommitter } from "./abusers/committer.ts";
import { makeDiffer } from "./abusers/differ.ts";
import { makeFillerOfQuotas } from "./abusers/filler_of_quotas.ts";
import { makeGuesserOfKeys } from "./abusers/guesser_of_keys.ts";
import { makeGuesserOfPasswords } from "./abusers/guesser_of_passwords.ts";
import { makeHolderOfLists } from "./abusers/holder_of_lists.ts";
import { makeHolderOfSlots } from "./abusers/holder_of_slots.ts";
import { makeNester } from "./abusers/nester.ts";
import { makeSearcher } from "./abusers/searcher.ts";
import { makeSenderOfOddBodies } from "./abusers/sender_of_odd_bodies.ts";
import { makeWordsmith } from "./abusers/wordsmith.ts";
import { Chance } from "./chance.ts";
import { live, nameOf, type Pause } from "./clients.ts";
import type { SoakOptions } from "./options.ts";
import type { Soak } from "./soak.ts";

interface Gang {
  kind: AbuserKind;
  count: number;
  pause: Pause;
}

/** Twenty abusers. Most send only a few requests a second, so rate limits do not stop them. */
const GANGS: readonly Gang[] = [
  { kind: makeNester, count: 2, pause: [200, 600] },
  { kind: makeSenderOfOddBodies, count: 1, pause: [100, 500] },
  { kind: makeHolderOfSlots, count: 4, pause: [100, 500] },
  { kind: makeHolderOfLists, count: 2, pause: [500, 1500] },
  { kind: makeWordsmith, count: 2, pause: [300, 1000] },
  { kind: makeSearcher, count: 2, pause: [100, 500] },
  { kind: makeCommitter, count: 1, pause: [10, 100] },
  { kind: makeBigWriter, count: 1, pause: [300, 1000] },
  { kind: makeDiffer, count: 1, pause: [300, 1000] },
  { kind: makeGuesserOfPasswords, count: 2, pause: [500, 1500] },
  { kind: makeGuesserOfKeys, count: 1, pause: [50, 150] },
  { kind: makeFillerOfQuotas, count: 1, pause: [50, 250] },
];

/** The `part` of the first abuser in `Chance`. It is higher than any client's, so abusers and clients draw different numbers. */
const FIRST_PART = 100_000;

/** Returns the gangs of the kinds in `--abusers`; all gangs if the list is empty. */
function listGangs({ abusers }: SoakOptions): Gang[] {
  return GANGS.filter(({ kind }) => abusers.length === 0 || abusers.includes(nameOf(kind)));
}

export function listAbuserKinds(options: SoakOptions): string[] {
  return listGangs(options).map(({ kind }) => nameOf(kind));
}

/** Runs the selected abusers until the load ends. */
export async function runAbusers(soak: Soak): Promise<void> {
  const kinds = listGangs(soak.options).flatMap((gang) => Array.from({ length: gang.count }, () => gang));
  await Promise.all(
    kinds.map(async ({ kind, pause }, number) => {
      const abuser = soak.world.abusers[number];
      if (!abuser) throw new Error("Cannot abuse anything: there are not enough abusers");
      const chance = new Chance(soak.options.seed, FIRST_PART + number);
      const address = `192.0.2.${1 + number}`;
      const own = { ...soak, sender: { kind: nameOf(kind), nextAddress: () => address } };
      const step = kind({ soak: own, chance, ...abuser });
      await delay(chance.between(0, 1000), undefined, { signal: soak.over }).catch(() => {});
      await live(own, { step, pause, chance });
    }),
  );
}
