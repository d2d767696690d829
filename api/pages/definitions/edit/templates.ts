/** Small valid documents to start from. */
import type { DefinitionType } from "../../../../shared/vocabulary.ts";

/** By type. */
export const TEMPLATES: Readonly<Record<DefinitionType, string>> = {
  agent: `agent:
  interface:
    name: my-agent
    version: "1.0.0"
    displayName: My Agent
    description: One sentence that says what the agent does and when to use it.
    agentType: explorer
    domain: software
    tags: []
  mission:
    opener: You do one thing at a time and report what you find.
`,
  command: `command:
  interface:
    name: my-command
    version: "1.0.0"
    displayName: My Command
    description: One sentence that says what the command does.
    commandType: agent
    domain: software
  invokes:
    agent: my-agent@^1.0.0
`,
  workflow: `workflow:
  interface:
    name: my-workflow
    version: "1.0.0"
    displayName: My Workflow
    description: One sentence that says what the workflow does.
    domain: software
  orchestration:
    phases:
      - id: work
        name: Do the work
        type: execute
        steps:
          - agent: my-agent@^1.0.0
`,
  pipeline: `pipeline:
  interface:
    name: my-pipeline
    version: "1.0.0"
    displayName: My Pipeline
    description: One sentence that says what the pipeline does.
    domain: software
  stages:
    - id: work
      name: Do the work
      agents:
        - ref: my-agent@^1.0.0
`,
};

/** Replaces the version of a document by another one, where it is a line of its own; else returns the text unchanged. */
export function withVersion(yaml: string, from: string, to: string): string {
  const escaped = from.replaceAll(".", "\\.");
  const line = new RegExp(`^( +version: *)(["']?)${escaped}\\2(?=\\s|$)`, "m");
  return yaml.replace(line, (_, key: string, quote: string) => `${key}${quote}${to}${quote}`);
}
