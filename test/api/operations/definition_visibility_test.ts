/** Tests every visibility and status for every caller at every endpoint. Add new endpoints as rows. */
import { expect, test } from "bun:test";
import {
  DEFINITION_STATUSES,
  DEFINITION_VISIBILITIES,
  type DefinitionStatus,
  type DefinitionVisibility,
} from "../../../shared/vocabulary.ts";
import { agentYaml, ask, type Caller, makeDefinition } from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";

interface Case {
  status: DefinitionStatus;
  visibility: DefinitionVisibility;
}

const CASES: readonly Case[] = DEFINITION_STATUSES.flatMap((status) =>
  DEFINITION_VISIBILITIES.map((visibility) => ({ status, visibility })),
);

function nameOf({ status, visibility }: Case): string {
  return `${status}-${visibility}`;
}

interface Place {
  name: string;
  slug: string;
}

/** The outcome of a read: 200, or 404 for a missing version or a missing definition. */
type Outcome = "found" | "no version" | "no definition";

/** The reads, each with its outcome for callers who may see the version. */
const READS: readonly {
  path: (place: Place) => string;
  seen: (status: DefinitionStatus) => Outcome;
}[] = [
  { path: ({ name }) => `/agent/${name}@1.0.0`, seen: () => "found" },
  { path: ({ name, slug }) => `/agent/@${slug}/${name}@1.0.0`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}`, seen: onlyResolvable },
  { path: ({ name, slug }) => `/agent/@${slug}/${name}`, seen: onlyResolvable },
  { path: ({ name }) => `/agent/${name}@2.0.0`, seen: () => "no version" },
  { path: ({ name }) => `/agent/${name}@1.0.0/dependencies`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}@1.0.0/dependents`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}@1.0.0/executions`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}/versions`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}/diff?from=1.0.0&to=1.0.0`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}@1.0.0/forkable`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}@1.0.0/lineage`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}@1.0.0/forks`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}/dependencies`, seen: onlyResolvable },
  { path: ({ name }) => `/agent/${name}/dependents`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}/executions`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}/forkable`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}/lineage`, seen: () => "found" },
  { path: ({ name }) => `/agent/${name}/forks`, seen: () => "found" },
];

function onlyResolvable(status: DefinitionStatus): Outcome {
  return status === "published" || status === "deprecated" ? "found" : "no version";
}

/** The writes, which all require the publisher role. */
const WRITES: readonly { method: string; path: (name: string) => string; body?: unknown }[] = [
  { method: "PUT", path: (name) => `/agent/${name}@1.0.0`, body: { displayName: "x" } },
  { method: "DELETE", path: (name) => `/agent/${name}@1.0.0` },
  { method: "POST", path: (name) => `/agent/${name}@1.0.0/publish` },
  { method: "POST", path: (name) => `/agent/${name}@1.0.0/deprecate`, body: { reason: "x" } },
  { method: "POST", path: (name) => `/agent/${name}@1.0.0/archive` },
  { method: "POST", path: (name) => `/agent/${name}@1.0.0/retranslate` },
  { method: "POST", path: (name) => `/agent/${name}/upgrade`, body: { yaml: agentYaml("any") } },
];

/** Creates definitions of every status and visibility in one organization. Returns its members and a stranger. */
async function openRegistry() {
  const api = await openTestApp({
    config: { rateLimitAnonymousPerMinute: 10_000, rateLimitUserPerMinute: 10_000 },
  });
  const owner = await api.make.person();
  for (const kind of CASES) await makeDefinition(api.db.sql, owner, { name: nameOf(kind), ...kind });
  const viewer = await api.make.person({ org: owner.org, role: "viewer" });
  const stranger = await api.make.person();
  const boundHere = await api.make.key({ userId: viewer.user.id, orgId: owner.org.id });
  const boundElsewhere = await api.make.key({ userId: viewer.user.id, orgId: viewer.personalOrg.id });
  return { api, owner, viewer, stranger, boundHere, boundElsewhere };
}

async function outcomeOf(response: Response): Promise<string> {
  if (response.status === 200) return "found";
  const { error } = (await response.json()) as { error: { details?: { reason?: string } } };
  return response.status === 404 ? `no ${error.details?.reason}` : `status ${response.status}`;
}

function mayBeSeenByAll({ status, visibility }: Case): boolean {
  return status !== "draft" && visibility !== "private";
}

async function readAll(
  api: TestApp,
  caller: Caller | null,
  slug: string,
): Promise<[string, string, string][]> {
  const outcomes: [string, string, string][] = [];
  for (const kind of CASES) {
    const asked = READS.map(({ path }) => path({ name: nameOf(kind), slug }));
    const found = await Promise.all(asked.map(async (path) => outcomeOf(await ask(api, path, caller))));
    outcomes.push(
      ...found.map((outcome, index): [string, string, string] => [nameOf(kind), asked[index] ?? "", outcome]),
    );
  }
  return outcomes;
}

function expectedReads(slug: string, sees: (kind: Case) => boolean): [string, string, string][] {
  return CASES.flatMap((kind) =>
    READS.map(({ path, seen }): [string, string, string] => [
      nameOf(kind),
      path({ name: nameOf(kind), slug }),
      sees(kind) ? seen(kind.status) : "no definition",
    ]),
  );
}

test("members see all versions, and other callers see no drafts and no private versions", async () => {
  const { api, owner, viewer, stranger, boundHere, boundElsewhere } = await openRegistry();
  await using _ = api;
  const { slug } = owner.org;
  const everything = () => true;
  const callers: readonly [string, Caller | null, (kind: Case) => boolean][] = [
    ["anonymous", null, mayBeSeenByAll],
    ["stranger", { key: stranger.key }, mayBeSeenByAll],
    ["bound elsewhere", boundElsewhere, mayBeSeenByAll],
    ["owner", { key: owner.key }, everything],
    ["viewer", { key: viewer.key }, everything],
    ["viewer, X-Org-Slug", { key: viewer.key, org: owner.org }, everything],
    ["bound here", boundHere, everything],
  ];
  for (const [who, caller, sees] of callers) {
    expect([who, await readAll(api, caller, slug)]).toEqual([who, expectedReads(slug, sees)]);
  }
});

test("strangers' writes find no definition, members below publisher are refused, and nothing changes", async () => {
  const { api, owner, viewer, stranger, boundHere, boundElsewhere } = await openRegistry();
  await using _ = api;
  const before = await api.db.sql`select id, status, updated_at from definitions order by id`;
  const callers: readonly [string, Caller | null, string][] = [
    ["anonymous", null, "status 401"],
    ["stranger", { key: stranger.key }, "no definition"],
    ["stranger, X-Org-Slug", { key: stranger.key, org: owner.org }, "status 403"],
    ["bound elsewhere", boundElsewhere, "no definition"],
    ["owner, another organization", { key: owner.key, org: owner.personalOrg }, "no definition"],
    ["viewer, no organization", { key: viewer.key }, "status 403"],
    ["viewer", { key: viewer.key, org: owner.org }, "status 403"],
    ["bound here", boundHere, "status 403"],
  ];
  for (const [who, caller, expected] of callers) {
    for (const kind of CASES) {
      for (const { method, path, body } of WRITES) {
        const asked = path(nameOf(kind));
        const response = await ask(api, asked, caller, { method, body });
        expect([who, method, asked, await outcomeOf(response)]).toEqual([who, method, asked, expected]);
      }
    }
  }
  expect(await api.db.sql`select id, status, updated_at from definitions order by id`).toEqual(before);
});
