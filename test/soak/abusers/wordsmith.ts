/**
 * Abusers who write private drafts with thousands of words that share prefixes with common words. They delete some
 * drafts.
 */
import { agentYaml } from "../../helpers/definitions/definitions.ts";
import { type AbuserKind, type Assault, abuse } from "../abuse.ts";
import { makeWords } from "./words.ts";

/** Numbers of words in a description: below, near and beyond the maximum length. */
const DESCRIPTION_WORDS = [300, 380, 2000];
/** Enough words for an opener that fills most of the maximum size of a document. */
const OPENER_WORDS = 12_000;
const DELETED = 0.5;

export const makeWordsmith: AbuserKind = (assault) => {
  let drafts = 0;
  return async () => {
    drafts += 1;
    const name = `hostile-words-${assault.person.user.username}-${drafts}`.toLowerCase();
    const status = await create(assault, name);
    if (status !== 201 || !assault.chance.happens(DELETED)) return;
    const path = `/api/v1/definitions/agent/${name}@1.0.0`;
    await abuse(assault, { method: "DELETE", path, ...sender(assault) });
  };
};

async function create(assault: Assault, name: string): Promise<number | null> {
  const { chance } = assault;
  const description = makeWords(chance, chance.pick(DESCRIPTION_WORDS));
  const opener = makeWords(chance, OPENER_WORDS);
  const yaml = agentYaml(name, "1.0.0", { description }).replace(/opener: .*/, `opener: ${opener}`);
  return abuse(assault, {
    method: "POST",
    path: `/api/v1/definitions/agent/${name}`,
    ...sender(assault),
    body: { yaml },
    expects: [201, 409, 422],
  });
}

function sender({ person }: Assault) {
  return { key: person.key, org: person.org.slug };
}
