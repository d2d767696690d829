import { expect, test } from "bun:test";
import { parseDefinition } from "../../../../shared/definitions/parse_definition.ts";
import { translateDefinition } from "../../../../shared/definitions/translate/translate.ts";
import type { DefinitionType } from "../../../../shared/vocabulary.ts";

/** The Markdown of a document whose body has these lines besides its interface. */
function rendered(type: DefinitionType, lines: string): string {
  const more = { agent: ", agentType: executor", command: ", commandType: agent" } as const;
  const extra = type === "agent" || type === "command" ? more[type] : "";
  const yaml = `${type}:
  interface: {name: sample, version: 1.0.0, description: Does what a sample does.${extra}}
${lines.replace(/^/gm, "  ")}`;
  const parsing = parseDefinition(yaml, { type });
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.problems));
  const translation = translateDefinition(parsing.source);
  if (!translation.ok) throw new Error(JSON.stringify(translation.failures));
  return translation.runtimeMd;
}

const STAGES = "stages: [{id: s, steps: [{agent: a@1.0.0}]}]";
const PHASES = "orchestration: {phases: [{name: P, steps: [{agent: a@1.0.0}]}]}";

test.each<[DefinitionType, string]>([
  ["pipeline", `${STAGES}\nnotifications: {channels: {slack: {url: "https://hooks.example.com/XYZZY"}}}`],
  ["pipeline", `${STAGES}\nnotifications: {channels: {type: slack, url: "https://hooks.example.com/XYZZY"}}`],
  [
    "workflow",
    `${PHASES}\nnotifications: {channels: [{type: slack, url: "https://hooks.example.com/XYZZY"}]}`,
  ],
  ["workflow", `${PHASES}\nextra: {notifications: {text: "see https://hooks.example.com/XYZZY"}}`],
])("no address of a %s's notifications is rendered, whatever their shape", (type, lines) => {
  const markdown = rendered(type, lines);
  expect(markdown).not.toContain("XYZZY");
  expect(markdown).not.toContain("hooks.example.com");
});

test.each<[DefinitionType, string, name: string]>([
  ["pipeline", `${STAGES}\nstate: {custom: [{name: api_token, value: XYZZY}]}`, "api_token"],
  [
    "pipeline",
    `${STAGES}\ntriggers: [{type: manual, parameters: [{name: deploy_token, default: XYZZY}]}]`,
    "deploy_token",
  ],
  ["command", "invokes: {agent: a@1.0.0}\ninputs: [{name: api_key, default: XYZZY}]", "api_key"],
  ["command", "invokes: {agent: a@1.0.0}\ninputs: [{name: api_key, source: fixed, value: XYZZY}]", "api_key"],
  [
    "workflow",
    `${PHASES}\narguments: {positional: [{name: password, default: XYZZY}], flags: [{name: api-key, default: XYZZY}]}`,
    "password",
  ],
  [
    "agent",
    "completion: {criteria: [Done.]}\ntasks: {inputs: [{id: client_secret, default: XYZZY}], operations: [Read it.]}",
    "client_secret",
  ],
])("a %s shows no value whose name promises a secret", (type, lines, name) => {
  const markdown = rendered(type, lines);
  expect(markdown).not.toContain("XYZZY");
  expect(markdown).toContain(name);
  expect(markdown).toContain("a secret, not shown here");
  // A template only says where the value comes from.
  expect(rendered(type, lines.replaceAll("XYZZY", '"{{ vault.key }}"'))).toContain("{{ vault.key }}");
});

test("a default whose name promises nothing is shown, also an empty one", () => {
  const inputs = '{name: lens, default: wide}, {name: tokens_max, default: 7}, {name: mode, default: ""}';
  const markdown = rendered("command", `invokes: {agent: a@1.0.0}\ninputs: [${inputs}]`);
  for (const shown of ["`wide`", "`7`", '`""`']) expect(markdown).toContain(shown);
});
