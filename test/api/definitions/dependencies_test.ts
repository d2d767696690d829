import { expect, test } from "bun:test";
import {
  agentNeeding,
  ask,
  type Caller,
  errorOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { makeForest } from "../../helpers/definitions/forest.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { waitFor } from "../../helpers/wait_for.ts";

interface Tree {
  id: string;
  organization: string;
  type: string;
  name: string;
  version: string;
  context?: string;
  dependencies: Tree[];
}

interface Dependencies {
  definition: { type: string; name: string; version: string };
  graph: Tree;
  flat: { id: string; type: string; name: string; version: string; context: string; depth: number }[];
  totalCount: number;
  maxDepth: number;
  truncated: boolean;
  unresolved: { type: string; name: string; range: string; context: string }[];
}

async function dependenciesOf(
  api: TestApp,
  path: string,
  caller: Caller | null = null,
): Promise<Dependencies> {
  const response = await ask(api, path, caller);
  const { data } = (await response.json()) as { data?: Dependencies };
  if (!data) throw new Error(`Cannot read dependencies: ${response.status}`);
  return data;
}

/** Formats a tree as one line: `a@1.0.0(b@1.0.0 c@1.0.0)`. */
function outline({ name, version, dependencies }: Tree): string {
  const below = dependencies.map(outline).join(" ");
  return `${name}@${version}${below && `(${below})`}`;
}

function outlineFlat({ flat }: Dependencies): string[] {
  return flat.map(({ name, version, depth }) => `${depth} ${name}@${version}`);
}

/** Publishes public agents with these names and dependencies. */
async function publishAgents(
  api: TestApp,
  owner: Caller,
  agents: readonly (readonly [string, readonly string[], string?])[],
): Promise<void> {
  for (const [name, requires, version = "1.0.0"] of agents) {
    const yaml = agentNeeding(name, requires, version);
    await publishAgent(api, owner, { name, version, yaml, visibility: "public" });
  }
}

/** Adds references in SQL. They may form cycles, which publishing would refuse. */
async function makeEdges(
  api: TestApp,
  edges: readonly (readonly [from: string, toName: string, range?: string])[],
): Promise<void> {
  await api.db.sql`
    insert into definition_references (definition_id, position, type, name, range, context, in_tree)
    select
      e.from_id, row_number() over (partition by e.from_id order by e.position), 'agent', e.to_name, e.range,
      'dependencies.requires', true
    from unnest(
      ${edges.map(([from]) => from)}::uuid[], ${edges.map(([, to]) => to)}::text[],
      ${edges.map(([, , range = "latest"]) => range)}::text[]
    ) with ordinality as e (from_id, to_name, range, position)`;
}

test("dependencies are returned as a tree and as a list, with contexts and unresolved references", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgents(api, person, [
    ["leaf", []],
    ["middle", ["leaf@^1.0.0", "ghost@~2.1.0"]],
  ]);
  const yaml = [
    "workflow:",
    "  interface: { name: checks, version: 1.0.0, description: Checks a change. }",
    "  orchestration:",
    "    phases:",
    "      - id: review",
    "        steps: [{ agent: middle@^1.0.0 }, { command: missing@1.0.0 }]",
    "      - id: again",
    "        steps: [{ agent: leaf@latest }, { agent: middle@1.0.0 }]",
    "",
  ].join("\n");
  await write(api, "/workflow/checks", person, { body: { yaml, visibility: "public" } });
  expect((await write(api, "/workflow/checks@1.0.0/publish", person)).status).toBe(200);
  const found = await dependenciesOf(api, "/workflow/checks/dependencies");
  const ids = new Map(found.flat.map(({ name, id }) => [name, id]));
  const [root] = await api.db.sql`select id from definitions where name = 'checks'`;
  const organization = person.org.slug;
  const leaf = { id: ids.get("leaf"), organization, type: "agent", name: "leaf", version: "1.0.0" };
  const middle = { id: ids.get("middle"), organization, type: "agent", name: "middle", version: "1.0.0" };
  const checks = { id: root?.["id"], organization, type: "workflow", name: "checks", version: "1.0.0" };
  expect(found as unknown).toStrictEqual({
    definition: checks,
    graph: {
      ...checks,
      dependencies: [
        {
          ...middle,
          context: "phase review",
          dependencies: [{ ...leaf, context: "dependencies.requires", dependencies: [] }],
        },
        { ...leaf, context: "phase again", dependencies: [] },
      ],
    },
    flat: [
      { ...middle, context: "phase review", depth: 1 },
      { ...leaf, context: "phase again", depth: 1 },
    ],
    totalCount: 2,
    maxDepth: 2,
    unresolved: [
      { type: "command", name: "missing", range: "1.0.0", context: "phase review" },
      { type: "agent", name: "ghost", range: "~2.1.0", context: "dependencies.requires" },
    ],
    truncated: false,
  });
  const alone = await dependenciesOf(api, "/agent/leaf@1.0.0/dependencies");
  expect([outline(alone.graph), alone.flat, alone.totalCount, alone.maxDepth, alone.unresolved]).toEqual([
    "leaf@1.0.0",
    [],
    0,
    0,
    [],
  ]);
});

test("a range resolves to the highest matching published version, or else the highest matching deprecated version", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const versions = [
    ["1.9.0", "published"],
    ["1.10.0", "published"],
    ["1.11.0", "deprecated"],
    ["2.0.0", "deprecated"],
    ["2.1.0", "archived"],
    ["3.0.0", "draft"],
    ["0.4.0", "published"],
  ] as const;
  for (const [version, status] of versions) {
    await makeDefinition(api.db.sql, person, { name: "helper", version, status, visibility: "public" });
  }
  const cases: readonly [string, string | null][] = [
    ["latest", "1.10.0"],
    ["^1.0.0", "1.10.0"],
    ["~1.9.0", "1.9.0"],
    ["<=1.9.5", "1.9.0"],
    [">=1.11.0", "2.0.0"],
    ["^2.0.0", "2.0.0"],
    ["1.11.0", "1.11.0"],
    ["2.1.0", "2.1.0"],
    ["~2.1.0", null],
    ["3.0.0", null],
    [">=3.0.0", null],
    ["^0.4.0", "0.4.0"],
    ["^0.3.0", null],
    ["newest", null],
  ];
  for (const [index, [range, expected]] of cases.entries()) {
    const name = `needs-${index}`;
    const { id } = await makeDefinition(api.db.sql, person, {
      name,
      status: "published",
      visibility: "public",
    });
    await makeEdges(api, [[id, "helper", range]]);
    const { flat, unresolved } = await dependenciesOf(api, `/agent/${name}/dependencies`);
    expect([range, flat[0]?.version ?? null, unresolved.length]).toEqual([
      range,
      expected,
      expected === null ? 1 : 0,
    ]);
  }
});

test("maxDepth is 50 by default and at most, and truncated tells whether deeper levels exist", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const made = [];
  for (let n = 0; n < 56; n += 1) {
    made.push(
      await makeDefinition(api.db.sql, person, {
        name: `link-${n}`,
        status: "published",
        visibility: "public",
      }),
    );
  }
  await makeEdges(
    api,
    made.slice(0, -1).map(({ id }, n) => [id, `link-${n + 1}`]),
  );
  for (const [query, depth] of [
    ["", 50],
    ["?maxDepth=1", 1],
    ["?maxDepth=50", 50],
  ] as const) {
    const found = await dependenciesOf(api, `/agent/link-0/dependencies${query}`);
    expect([query, found.maxDepth, found.totalCount, found.flat.at(-1)?.name, found.truncated]).toEqual([
      query,
      depth,
      depth,
      `link-${depth}`,
      true,
    ]);
  }
  const rest = await dependenciesOf(api, "/agent/link-50/dependencies?maxDepth=50");
  expect([rest.maxDepth, rest.totalCount, rest.truncated]).toEqual([5, 5, false]);
  const exact = await dependenciesOf(api, "/agent/link-50/dependencies?maxDepth=5");
  expect([exact.maxDepth, exact.truncated]).toEqual([5, false]);
  for (const query of ["0", "51", "-1", "1.5", "ten", "", "1&maxDepth=2"]) {
    const response = await ask(api, `/agent/link-0/dependencies?maxDepth=${query}`, null);
    expect([query, await errorOf(response)]).toEqual([
      query,
      [
        400,
        "VALIDATION_ERROR",
        {
          errors: [
            {
              path: "maxDepth",
              message: query.includes("&") ? "must be given once" : "must be a whole number from 1 to 50",
            },
          ],
        },
      ],
    ]);
  }
});

test("a shared dependency appears on both sides of the tree and once in the list, and a loop ends where it repeats", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const make = (name: string) =>
    makeDefinition(api.db.sql, person, { name, status: "published", visibility: "public" });
  const [top, left, right, , loop] = [
    await make("top"),
    await make("left"),
    await make("right"),
    await make("bottom"),
    await make("loop"),
  ];
  await makeEdges(api, [
    [top.id, "left"],
    [top.id, "right"],
    [left.id, "bottom"],
    [right.id, "bottom"],
    [right.id, "loop"],
    [loop.id, "top"],
    [loop.id, "loop"],
  ]);
  const found = await dependenciesOf(api, "/agent/top/dependencies");
  const at = (text: string) => text.replaceAll(/[a-z]+/g, "$&@1.0.0");
  expect(outline(found.graph)).toBe(at("top(left(bottom) right(bottom loop(top loop)))"));
  expect(outlineFlat(found)).toEqual(["1 left", "1 right", "2 bottom", "2 loop"].map(at));
  expect([found.totalCount, found.maxDepth]).toEqual([4, 3]);
});

test("a pipeline's trigger is not a dependency, and a matching If-None-Match returns 304", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = [
    "pipeline:",
    "  interface: { name: nightly, version: 1.0.0, description: Runs at night. }",
    "  triggers: [{ type: pipeline, pipeline: release@^1.0.0 }]",
    "  stages: [{ id: only, steps: [{ run: make }] }]",
    "",
  ].join("\n");
  await write(api, "/pipeline/nightly", person, { body: { yaml, visibility: "public" } });
  expect((await write(api, "/pipeline/nightly@1.0.0/publish", person)).status).toBe(200);
  const response = await ask(api, "/pipeline/nightly/dependencies", null);
  const { data } = (await response.json()) as { data: Dependencies };
  expect([data.totalCount, data.unresolved]).toEqual([0, []]);
  const etag = response.headers.get("etag") ?? "";
  const again = await ask(api, "/pipeline/nightly/dependencies", null, {
    headers: { "if-none-match": etag },
  });
  expect(again.status).toBe(304);
});

test("at most 5,000 nodes are returned", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await makeForest(api.db, person, 5100);
  // On a busy machine, the first responses may be 503.
  const found = await waitFor(async () => {
    const response = await ask(api, "/agent/node-1/dependencies", null);
    const { data = null } = (await response.json()) as { data?: Dependencies };
    expect([200, 503]).toContain(response.status);
    return data;
  });
  expect(found.totalCount).toBe(5000);
  expect(outlineFlat(found).at(-1)).toBe("4 node-5001@1.2.0");
});
