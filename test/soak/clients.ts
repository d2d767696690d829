/** Starts the clients of each kind and runs their loops until the load ends. */
import { setTimeout as delay } from "node:timers/promises";
import { Chance } from "./chance.ts";
import { makeEditor } from "./clients/editor.ts";
import { makeExporter } from "./clients/exporter.ts";
import { makeJobOwner } from "./clients/job_owner.ts";
import { makeKeyHolder } from "./clients/key_holder.ts";
import { makeLeaver } from "./clients/leaver.ts";
import { makeReader } from "./clients/reader.ts";
import { makeRecorder } from "./clients/recorder.ts";
import { makeSlowReader } from "./clients/slow_reader.ts";
import type { ClientKind, Soak, Step } from "./soak.ts";

/** The number of people that a client stands for, each with a different address. */
const PEOPLE = 16;

/** The shortest and the longest pause between two steps of a client, in milliseconds. */
export type Pause = readonly [least: number, most: number];

interface Crowd {
  kind: ClientKind;
  /** The number of clients of this kind per twenty clients. */
  share: number;
  pause: Pause;
}

/** Few clients sign in, because checking a password takes a tenth of a second of CPU time. */
const CROWDS: readonly Crowd[] = [
  { kind: makeReader, share: 9, pause: [50, 500] },
  { kind: makeExporter, share: 3, pause: [300, 1500] },
  { kind: makeJobOwner, share: 2, pause: [500, 5000] },
  { kind: makeRecorder, share: 2, pause: [100, 1000] },
  { kind: makeEditor, share: 1, pause: [200, 2000] },
  { kind: makeKeyHolder, share: 1, pause: [2000, 8000] },
  { kind: makeLeaver, share: 1, pause: [300, 1500] },
  { kind: makeSlowReader, share: 1, pause: [1000, 8000] },
];

/** Returns the kinds in an order in which even a few clients cover all kinds. */
function listKinds(): Crowd[] {
  const rounds = Math.max(...CROWDS.map(({ share }) => share));
  return Array.from({ length: rounds }, (_, round) => CROWDS.filter(({ share }) => share > round)).flat();
}

/** Runs all clients until the load has ended and each client has finished its current step. */
export async function runClients(soak: Soak): Promise<void> {
  const kinds = listKinds();
  const members = new Map<Crowd, number>();
  const clients = Array.from({ length: soak.options.clients }, (_, number) => {
    const crowd = kinds[number % kinds.length];
    if (!crowd) throw new Error("Cannot run clients: there is no kind of them");
    const ordinal = members.get(crowd) ?? 0;
    members.set(crowd, ordinal + 1);
    const chance = new Chance(soak.options.seed, number);
    const { kind, pause } = crowd;
    const own = enter(soak, { number, name: nameOf(kind) });
    return live(own, { step: kind(own, chance, ordinal), pause, chance });
  });
  await Promise.all(clients);
}

/** Returns the name of a kind: `reader` for `makeReader`. */
export function nameOf(kind: { name: string }): string {
  return kind.name
    .replace(/^make/, "")
    .replaceAll(/(?<=[a-z])[A-Z]/g, " $&")
    .toLowerCase();
}

/** Returns the soak for one client, with its own user and addresses. */
function enter(soak: Soak, { number, name }: { number: number; name: string }): Soak {
  const member = soak.world.members[number] ?? soak.world.member;
  let requests = 0;
  const nextAddress = () => {
    requests += 1;
    return `10.${number >> 8}.${number % 256}.${1 + (requests % PEOPLE)}`;
  };
  return { ...soak, world: { ...soak.world, member }, sender: { kind: name, nextAddress } };
}

/** Repeats a client's step until the load ends, with random pauses. An error of a step becomes a finding. */
export async function live(
  soak: Soak,
  { step, pause, chance }: { step: Step; pause: Pause; chance: Chance },
): Promise<void> {
  // A random delay keeps clients from starting all at once.
  await rest(soak, chance.between(0, 2000));
  while (!soak.over.aborted) {
    const from = performance.now();
    try {
      await step();
    } catch (error) {
      soak.findings.add("a client cannot go on", error instanceof Error ? `${error.stack}` : `${error}`);
    }
    soak.tally.most(`step/${soak.sender.kind}`, performance.now() - from);
    await rest(soak, chance.between(...pause));
  }
}

async function rest({ over }: Soak, ms: number): Promise<void> {
  await delay(ms, undefined, { signal: over }).catch(() => {});
}
