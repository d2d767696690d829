import { expect, test } from "bun:test";
import {
  agentBody,
  commandBody,
  load,
  outline,
  pipelineBody,
  rendered,
  sectionOf,
} from "../../../helpers/definitions/translation.ts";

const explorer = (blocks: Record<string, unknown>) => rendered("agent", agentBody("explorer", blocks));

test("unknown blocks are rendered last, in document order, and meta is omitted", () => {
  const markdown = explorer({
    zebra: { a: 1 },
    meta: { secret_plan: "no" },
    tone: { guidelines: ["x"] },
    apple: ["b"],
    plain: "c",
  });
  expect(outline(markdown)).toEqual(["# Sample", "## Voice", "## Zebra", "## Apple", "## Plain"]);
  expect(sectionOf(markdown, "## Zebra")).toBe("**A:** 1");
  expect(sectionOf(markdown, "## Apple")).toBe("- b");
  expect(sectionOf(markdown, "## Plain")).toBe("**Plain:** c");
  expect(markdown).not.toContain("plan");
});

test("maps become subheadings, lists become bullets, and scalars become labeled values", () => {
  const markdown = explorer({
    custom_block: {
      enabled: false,
      zero: 0,
      items: ["x", { name: "n", more: [1, 2] }],
      innerPart: { deep: { text: "t" } },
    },
  });
  expect(sectionOf(markdown, "## Custom block")).toBe(
    "**Enabled:** false\n\n**Zero:** 0\n\n**Items:**\n\n- x\n- **Name:** n\n  - **More:**\n    - 1\n    - 2\n\n" +
      "### Inner part\n\n#### Deep\n\n**Text:** t",
  );
});

test("a value after a map is not rendered as part of the map", () => {
  expect(sectionOf(explorer({ custom: { a: { x: 1 }, b: "y" } }), "## Custom")).toBe(
    "**A:**\n\n- **X:** 1\n\n**B:** y",
  );
});

test("a multi-line text is rendered unchanged in a fence", () => {
  expect(sectionOf(explorer({ custom: { script: "a\n  ```b\n" } }), "## Custom")).toBe(
    "**Script:**\n\n````\na\n  ```b\n````",
  );
});

test("empty values are not rendered", () => {
  const nothing = { a: null, b: "", c: " ", d: [], e: {}, f: [[], [null], { g: {} }], h: Number.NaN };
  expect(outline(explorer({ empty: nothing, none: null, list: [] }))).toEqual(["# Sample"]);
});

test("0, false and empty lists in place of texts render nothing", () => {
  const markdown = explorer({
    mission: { opener: "x", role_boundaries: 0, explicit_prohibitions: false, epistemic_limitations: [] },
    edge_cases: [],
    tone: { attributes: [], guidelines: [null, "", " "] },
    output: { sections: [], metrics: {}, token_budget: { target: null } },
  });
  expect(load(markdown).body).toBe("# Sample\n\nx\n");
});

test("unknown keys of known blocks are rendered", () => {
  const markdown = explorer({
    mission: { opener: "x", extra_thought: "one" },
    tone: { guidelines: ["a"], tempo: { fast: "two" } },
    edge_cases: [{ id: "c", condition: "d", hint: "three" }],
    interface: { audience: "four" },
  });
  for (const text of ["**Extra thought:** one", "**Fast:** two", "- **Hint:** three", "**Audience:** four"]) {
    expect(load(markdown).body).toContain(text);
  }
});

test("a known block of the wrong type is rendered like an unknown block", () => {
  const markdown = explorer({ tone: "friendly", knowledge_base: ["fact"], edge_cases: { a: "b" } });
  expect(outline(markdown)).toEqual(["# Sample", "## Tone", "## Knowledge base", "## Edge cases"]);
});

const SECRETS = {
  password: "hunter2",
  passphrase: ["hunter2"],
  apiKey: "hunter2",
  github_token: "hunter2",
  webhook: "hunter2",
  secrets: { DB: "hunter2", nested: { value: "hunter2" } },
  list: [{ client_secret: "hunter2", secrets: [{ name: "KEY", value: "hunter2" }] }],
};

test("secret values are never rendered, but their names are", () => {
  for (const markdown of [
    explorer({ custom: SECRETS, ...SECRETS }),
    rendered("command", commandBody({ custom: SECRETS })),
  ]) {
    expect(markdown).not.toContain("hunter2");
    expect(markdown).toContain("KEY");
    expect(markdown).toContain("**Github token:** (secret, not shown)");
  }
});

test("URLs and secrets in triggers and notification channels are not rendered", () => {
  const markdown = rendered(
    "pipeline",
    pipelineBody(
      [{ id: "a", steps: ["true"], env: { DEPLOY_TOKEN: "hunter2", PATH_TOKEN: "{{ secrets.T }}" } }],
      {
        triggers: [
          {
            type: "webhook",
            event: "e",
            secret: "hunter2",
            url: "https://example.com/hunter2",
            extra: { endpoint: "hunter2" },
          },
          { type: "manual", secret: "hunter2" },
        ],
        environment: {
          variables: [{ name: "API_KEY", value: "hunter2" }],
          secrets: [{ name: "S", value: "hunter2", default: "hunter2" }, "T"],
        },
        notifications: {
          channels: [
            { type: "slack", channel: "#a", webhook: "hunter2", events: ["x"] },
            {
              type: "teams",
              target: "https://example.com/hunter2",
              config: { hook: "https://hunter2" },
              routing_key: "hunter2",
            },
          ],
        },
      },
    ),
  );
  expect(markdown).not.toContain("hunter2");
  expect(markdown).toContain("| `S` |");
  expect(markdown).toContain("| `T` |");
  expect(markdown).toContain("`PATH_TOKEN`: `{{ secrets.T }}`");
  expect(sectionOf(markdown, "## Tell")).toBe("- slack to `#a`, on `x`\n- teams");
});
