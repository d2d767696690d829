/** Clients that create, edit, publish and deprecate definitions, and sometimes delete them. */
import { setTimeout as delay } from "node:timers/promises";
import type { DefinitionStatus } from "../../../shared/vocabulary.ts";
import type { Definition } from "../../../sql/definitions/fields.ts";
import { agentYaml } from "../../helpers/definitions/definitions.ts";
import { type Answer, type Ask, ask } from "../ask.ts";
import type { Chance } from "../chance.ts";
import type { ClientKind, Soak } from "../soak.ts";

/** The name prefix of definitions that these clients write. */
export const EDITED_PREFIX = "soak-edited-";
const EDITED = 0.6;
const DELETED = 0.1;
const DEPRECATED = 0.3;
/** The maximum number of reads of a version whose state is unknown. */
const TRIES = 20;

/** A version that only one client writes. */
interface Draft {
  soak: Soak;
  chance: Chance;
  name: string;
  version: string;
}

export const makeEditor: ClientKind = (soak, chance, number) => {
  const name = `${EDITED_PREFIX}${number}`;
  let patch = 0;
  return async () => {
    patch += 1;
    const draft = { soak, chance, name, version: `1.0.${patch}` };
    if (!(await create(draft))) return;
    if (chance.happens(EDITED)) await edit(draft);
    if (chance.happens(DELETED)) return remove(draft);
    if (!(await move(draft, "publish", "published"))) return;
    soak.tally.add("publications");
    if (chance.happens(DEPRECATED)) await move(draft, "deprecate", "deprecated");
  };
};

async function create(draft: Draft): Promise<boolean> {
  const { name, version } = draft;
  const body = { yaml: agentYaml(name, version), visibility: "public" };
  return become(draft, "draft", { method: "POST", path: pathOf(name), body, expects: [201] });
}

async function move(draft: Draft, verb: string, status: DefinitionStatus): Promise<boolean> {
  const body = verb === "deprecate" ? { reason: "There is a better one" } : {};
  return become(draft, status, { method: "POST", path: `${addressOf(draft)}/${verb}`, body });
}

/** Edits the document. If no response arrives, the hash stays unknown until the next response that contains it. */
async function edit(draft: Draft): Promise<void> {
  const { soak, chance, name, version } = draft;
  soak.ledgers.definitions.beginEdit(`${name}@${version}`);
  const description = `Reviews a change, in manner ${chance.integer(1_000_000)}.`;
  const body = { yaml: agentYaml(name, version, { description }), changeType: "patch" };
  const answer = await ask(soak, chance, { ...memberOf(soak), method: "PUT", path: addressOf(draft), body });
  if (answer?.status === 200) acknowledge(draft, answer);
}

async function remove(draft: Draft): Promise<void> {
  const { soak, chance, name, version } = draft;
  soak.ledgers.definitions.begin(`${name}@${version}`, null);
  const answer = await ask(soak, chance, { ...memberOf(soak), method: "DELETE", path: addressOf(draft) });
  if (answer?.status === 200) soak.ledgers.definitions.acknowledgeDeleted(`${name}@${version}`);
}

/** Sends a write that sets `status`. Returns false if the resulting status is unknown or different. */
async function become(draft: Draft, status: DefinitionStatus, request: Ask): Promise<boolean> {
  const { soak, chance, name, version } = draft;
  soak.ledgers.definitions.begin(`${name}@${version}`, status);
  const answer = await ask(soak, chance, { ...memberOf(soak), ...request });
  const last = answer ?? (await look(draft));
  if (!last || last.status >= 300) return false;
  // A read that shows the previous status proves nothing, because an interrupted write may still be running.
  if (last.json<{ data: Definition }>().data.status !== status) return false;
  acknowledge(draft, last);
  return true;
}

/** Reads the version until a response arrives. Returns null after too many attempts or the end of the load. */
async function look(draft: Draft): Promise<Answer | null> {
  const { soak, chance } = draft;
  for (let tries = 0; tries < TRIES && !soak.over.aborted; tries += 1) {
    const answer = await ask(soak, chance, {
      ...memberOf(soak),
      path: addressOf(draft),
      expects: [200, 404],
    });
    if (answer) return answer;
    await delay(chance.between(100, 500));
  }
  return null;
}

function acknowledge({ soak, name, version }: Draft, answer: Answer): void {
  const { status, hash } = answer.json<{ data: Definition }>().data;
  soak.ledgers.definitions.acknowledge(`${name}@${version}`, status, hash);
}

function memberOf({ world }: Soak): Pick<Ask, "key" | "org"> {
  return { key: world.member.key, org: world.member.org.slug };
}

function pathOf(name: string): string {
  return `/api/v1/definitions/agent/${name}`;
}

function addressOf({ name, version }: Draft): string {
  return `${pathOf(name)}@${version}`;
}
