/** Makes random words with prefixes that clients search for. */
import type { Chance } from "../chance.ts";

const BEGINNINGS = ["code", "review", "steady", "agent", "pipe", "test", "secur", "a", "re"];

export function makeWords(chance: Chance, count: number): string {
  return Array.from({ length: count }, () => makeWord(chance)).join(" ");
}

function makeWord(chance: Chance): string {
  return `${chance.pick(BEGINNINGS)}${chance.integer(36 ** 5).toString(36)}`;
}
