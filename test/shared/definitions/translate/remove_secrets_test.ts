import { expect, test } from "bun:test";
import type { DefinitionType } from "../../../../shared/vocabulary.ts";
import {
  agentBody,
  commandBody,
  pipelineBody,
  rendered,
  workflowBody,
} from "../../../helpers/definitions/translation.ts";

const URL = "https://hooks.example.com/XYZZY";

const pipelineWith = (blocks: Record<string, unknown>) =>
  pipelineBody([{ id: "s", steps: [{ agent: "a@1.0.0" }] }], blocks);
const workflowWith = (blocks: Record<string, unknown>) =>
  workflowBody([{ name: "P", steps: [{ agent: "a@1.0.0" }] }], blocks);

test.each<[DefinitionType, unknown]>([
  ["pipeline", pipelineWith({ notifications: { channels: { slack: { url: URL } } } })],
  ["pipeline", pipelineWith({ notifications: { channels: { type: "slack", url: URL } } })],
  ["workflow", workflowWith({ notifications: { channels: [{ type: "slack", url: URL }] } })],
  ["workflow", workflowWith({ extra: { notifications: { text: `see ${URL}` } } })],
])("the notification URLs of a %s are never rendered, whatever the shape of the block", (type, body) => {
  const markdown = rendered(type, body);
  expect(markdown).not.toContain("XYZZY");
  expect(markdown).not.toContain("hooks.example.com");
});

test.each<[DefinitionType, name: string, bodyWith: (value: string) => unknown]>([
  ["pipeline", "api_token", (value) => pipelineWith({ state: { custom: [{ name: "api_token", value }] } })],
  [
    "pipeline",
    "deploy_token",
    (value) =>
      pipelineWith({
        triggers: [{ type: "manual", parameters: [{ name: "deploy_token", default: value }] }],
      }),
  ],
  ["command", "api_key", (value) => commandBody({ inputs: [{ name: "api_key", default: value }] })],
  ["command", "api_key", (value) => commandBody({ inputs: [{ name: "api_key", source: "fixed", value }] })],
  [
    "workflow",
    "password",
    (value) => workflowWith({ arguments: { positional: [{ name: "password", default: value }] } }),
  ],
  [
    "workflow",
    "api-key",
    (value) => workflowWith({ arguments: { flags: [{ name: "api-key", default: value }] } }),
  ],
  [
    "agent",
    "client_secret",
    (value) =>
      agentBody("executor", {
        tasks: { inputs: [{ id: "client_secret", default: value }], operations: ["Read it."] },
      }),
  ],
])("a %s does not show a value whose name suggests a secret: %s", (type, name, bodyWith) => {
  const markdown = rendered(type, bodyWith("XYZZY"));
  expect(markdown).not.toContain("XYZZY");
  expect(markdown).toContain(name);
  expect(markdown).toContain("a secret, not shown here");
  // A template is not a secret; it only names the source of the value.
  expect(rendered(type, bodyWith("{{ vault.key }}"))).toContain("{{ vault.key }}");
});

test.each([
  "STRIPE_SECRET_KEY",
  "AWS_SECRET_ACCESS_KEY",
  "secretKey",
  "SECRET_KEY_BASE",
  "ENCRYPTION_KEY",
  "RAILS_MASTER_KEY",
  "auth-key",
])("the values of a variable and of a field named %s are not rendered", (name) => {
  const listed = pipelineWith({ environment: { variables: [{ name, value: "XYZZY" }] } });
  const field = pipelineWith({ environment: { [name]: "XYZZY" } });
  for (const body of [listed, field]) {
    expect(rendered("pipeline", body)).not.toContain("XYZZY");
    expect(rendered("pipeline", body)).toContain("secret, not shown");
  }
});

test("values of keys whose names only resemble secret names are rendered", () => {
  for (const name of ["PUBLIC_KEY", "sort_key", "SECRET_KEYRING_PATH", "monkey"]) {
    const variables = [{ name, value: "XYZZY" }];
    expect(rendered("pipeline", pipelineWith({ environment: { variables } }))).toContain("XYZZY");
  }
});

test("ordinary defaults are rendered, even if they are empty", () => {
  const inputs = [
    { name: "lens", default: "wide" },
    { name: "tokens_max", default: 7 },
    { name: "mode", default: "" },
  ];
  const markdown = rendered("command", commandBody({ inputs }));
  for (const shown of ["`wide`", "`7`", '`""`']) expect(markdown).toContain(shown);
});
