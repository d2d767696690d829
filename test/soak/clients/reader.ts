/**
 * Clients that read models, definitions, organizations and users, with and without a credential. Some of their requests
 * must fail.
 */
import { type Ask, ask } from "../ask.ts";
import type { Chance } from "../chance.ts";
import type { ClientKind } from "../soak.ts";
import type { World } from "../world.ts";

const API = "/api/v1";
/** The share of responses with an ETag after which the client repeats the request with `If-None-Match`. */
const CONDITIONAL = 0.2;
const NOBODY = "00000000-0000-4000-8000-000000000000";

type MakeRead = (world: World, chance: Chance) => Omit<Ask, "path"> & { path: string };

/** The requests, with paths relative to `/api/v1`. */
const READS: readonly MakeRead[] = [
  () => ({ path: "/models?limit=50" }),
  (_, chance) => ({
    path: `/models?capability=tools&sortBy=inputCost&offset=${chance.integer(100)}&limit=20`,
  }),
  () => ({ path: "/models?format=csv" }),
  (_, chance) => ({ path: `/models/lab-${chance.integer(4)}/model-${chance.integer(50)}` }),
  (_, chance) => ({ path: `/models/history/lab-${chance.integer(4)}/model-${chance.integer(50)}` }),
  () => ({ path: "/models/lab-0/nothing", expects: [404] }),
  () => ({ path: "/models/resolve/nothing-of-that-name", expects: [404] }),
  () => ({ path: "/models/providers" }),
  () => ({ path: "/models/aliases" }),
  () => ({ path: "/definitions?limit=100" }),
  (_, chance) => ({ path: `/definitions?search=${chance.pick(["review", "steady", "agnet"])}&type=agent` }),
  (_, chance) => ({ path: `/definitions?sortBy=executionCount&offset=${chance.integer(5)}&domain=software` }),
  (world) => ({ path: "/definitions?status=draft&limit=20", ...memberOf(world) }),
  (world, chance) => ({ path: `${agent(world, chance)}?includeRefs=true` }),
  (world, chance) => ({ path: `${agent(world, chance)}@1.0.0?normalize=true` }),
  (world, chance) => ({ path: `${agent(world, chance)}@7.0.0`, expects: [404] }),
  () => ({ path: "/definitions/agent/steady-draft@1.0.0", expects: [404] }),
  (world, chance) => ({ path: `${agent(world, chance)}/versions` }),
  (world, chance) => ({ path: `${agent(world, chance)}/diff?from=1.0.0&to=1.1.0` }),
  (world, chance) => ({
    path: `${agent(world, chance)}/diff?from=1.0.0&to=1.1.0&format=unified`,
    ...memberOf(world),
  }),
  (world, chance) => ({ path: `${agent(world, chance)}/dependencies` }),
  (world, chance) => ({ path: `${agent(world, chance)}/dependents` }),
  (world, chance) => ({ path: `${agent(world, chance)}/forks` }),
  (world, chance) => ({ path: `${agent(world, chance)}/executions?include=byTime,byVersion` }),
  (world) => ({ path: "/orgs", ...memberOf(world) }),
  (world) => ({ path: `/orgs/${world.member.org.slug}`, ...memberOf(world) }),
  (world) => ({ path: `/orgs/${world.member.org.slug}/members`, ...memberOf(world) }),
  (world) => ({ path: `/orgs/${world.member.org.slug}/projects`, ...memberOf(world) }),
  (world) => ({ path: `/orgs/${world.member.org.slug}/usage`, ...memberOf(world) }),
  (world) => ({ path: `/orgs/${world.member.org.slug}/usage`, expects: [401] }),
  (world) => ({ path: `/orgs/${world.member.org.slug}`, key: world.stranger.key, expects: [403] }),
  (world) => ({ path: `/orgs/${world.member.org.slug}/profile` }),
  (world) => ({ path: `/users/${world.member.user.id}` }),
  () => ({ path: `/users/${NOBODY}`, expects: [404] }),
  (world) => ({
    path: "/users/batch",
    method: "POST",
    body: { ids: [world.member.user.id, world.stranger.user.id, NOBODY] },
  }),
  () => ({ path: "/users/batch", method: "POST", body: { ids: [] }, expects: [422] }),
  (world) => ({ path: "/auth/me", ...memberOf(world) }),
  () => ({ path: "/auth/me", key: `ulr_${"x".repeat(43)}`, expects: [401] }),
  (world) => ({ path: "/export/jobs", ...memberOf(world) }),
  (world) => ({ path: `/export/projects/${NOBODY}/issues`, ...memberOf(world), expects: [404] }),
  (world) => ({ path: `/export/projects/${world.noisy.id}/runs`, key: world.stranger.key, expects: [404] }),
];

function memberOf({ member }: World): Pick<Ask, "key" | "org"> {
  return { key: member.key, org: member.org.slug };
}

function agent({ agents }: World, chance: Chance): string {
  return `/definitions/agent/${chance.pick(agents).name}`;
}

export const makeReader: ClientKind = (soak, chance) => async () => {
  const read = chance.pick(READS)(soak.world, chance);
  const request = { ...read, path: `${API}${read.path}` };
  const answer = await ask(soak, chance, request);
  const etag = answer?.headers.get("etag");
  if (!etag || !chance.happens(CONDITIONAL)) return;
  // The resource may have changed between the two requests.
  await ask(soak, chance, { ...request, headers: { "if-none-match": etag }, expects: [200, 304] });
};
