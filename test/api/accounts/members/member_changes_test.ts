/** Concurrent membership changes in one organization. */
import { expect, test } from "bun:test";
import {
  ask,
  type OrgScene,
  openOrgScene,
  type SignedInPerson,
} from "../../../helpers/accounts/organization.ts";

const ROUNDS = 25;

type Move = (scene: OrgScene, by: SignedInPerson, other: SignedInPerson) => ReturnType<typeof ask>;

function send(scene: OrgScene, by: SignedInPerson, target: SignedInPerson, body?: object) {
  const method = body ? "PATCH" : "DELETE";
  return ask(scene.api, `/orgs/${scene.org.slug}/members/${target.user.id}`, {
    token: by.token,
    method,
    body,
  });
}

const demoteOther: Move = (scene, by, other) => send(scene, by, other, { role: "admin" });
const stepDown: Move = (scene, by) => send(scene, by, by, { role: "viewer" });
const leave: Move = (scene, by) => send(scene, by, by);
const removeOther: Move = (scene, by, other) => send(scene, by, other);

const PAIRS: readonly [name: string, Move, Move][] = [
  ["demote each other", demoteOther, demoteOther],
  ["step down", stepDown, stepDown],
  ["leave", leave, leave],
  ["remove each other", removeOther, removeOther],
  ["leave and step down", leave, stepDown],
  ["remove the other and leave", removeOther, leave],
];

test.each(PAIRS)("one owner remains if two owners %s concurrently", async (_, first, second) => {
  await using scene = await openOrgScene();
  const { api, owner, org } = scene;
  const other = await scene.join("owner");
  const members = [owner, other].map(({ user }) => ({ orgId: org.id, userId: user.id, role: "owner" }));
  const refusals = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    await api.db.sql`delete from organization_members where org_id = ${org.id}`;
    await api.db.sql`insert into organization_members ${api.db.sql(members)}`;
    const moves = [first(scene, owner, other), second(scene, other, owner)];
    const responses = await Promise.all(round % 2 === 0 ? moves : moves.toReversed());
    const done = responses.filter(({ status }) => status < 300);
    const owners = Object.values(await scene.roles()).filter((role) => role === "owner");
    expect([round, done.length, owners.length]).toEqual([round, 1, 1]);
    for (const { code } of responses) if (code) refusals.add(code);
  }
  // In the losing request, the caller has lost the role or the membership, the target has left, or the caller is the last owner.
  for (const code of refusals) {
    expect(["LAST_OWNER", "INSUFFICIENT_ORG_ROLE", "ORG_ACCESS_DENIED", "NOT_FOUND"]).toContain(code);
  }
});
