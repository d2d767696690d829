/** Abusers who send the most expensive searches: short prefixes, many words, typos, high offsets. */
import { type AbuserKind, abuse } from "../abuse.ts";
import { makeWords } from "./words.ts";

const LONGEST = 200;

export const makeSearcher: AbuserKind = (assault) => async () => {
  const { chance, person } = assault;
  const search = chance.pick([
    "code",
    "re",
    "a",
    "code0",
    "reviwe agnet stedy",
    makeWords(chance, 4),
    makeWords(chance, 40).slice(0, LONGEST),
  ]);
  const query = new URLSearchParams({
    search,
    limit: "100",
    offset: String(chance.pick([0, 0, 500, 9000])),
    sortBy: chance.pick(["name", "executionCount", "updatedAt"]),
  });
  const key = chance.pick(["", person.key]);
  await abuse(assault, { path: `/api/v1/definitions?${query}`, key, expects: [200, 400] });
};
