/** The keys of agents. */
import { DEFINITION_AGENT_TYPES } from "../../vocabulary.ts";
import { AGENT_WORK } from "./agent_work_keys.ts";
import { environment, interfaceKeys, META, TIMEOUT_MS } from "./common_keys.ts";
import {
  block,
  entries,
  flagKey,
  free,
  integerKey,
  type Keys,
  list,
  model,
  names,
  numberKey,
  proseKey,
  prosesKey,
  reference,
  textKey,
  textsKey,
  tool,
  wordKey,
} from "./keys.ts";

/** Tools of the language. */
export const TOOLS = ["Read", "Grep", "Glob", "Bash", "Web", "API", "MCP"] as const;

const NATURE: Keys = {
  verifiability: wordKey("Who can check its claims", [
    "mechanically_checkable",
    "expert_judgment",
    "not_checkable",
  ]),
  determinism: wordKey("Whether a second run says the same", [
    "deterministic",
    "stochastic",
    "environment_dependent",
  ]),
  claim_type: wordKey("What it claims", ["factual", "normative", "observational"]),
};

const INTERFACE: Keys = {
  ...interfaceKeys("agent"),
  agentType: wordKey("What kind of agent it is, which decides the blocks it needs", DEFINITION_AGENT_TYPES, {
    isRequired: true,
  }),
  tools: list(
    tool("", ""),
    `Tools it may use: ${TOOLS.join(", ")}; without this key, reading tools or all tools`,
    "[Read, Grep]",
  ),
  risk_level: wordKey("Shown in the registry", ["low", "standard", "high", "critical"]),
  triggers: block("When a host proposes the agent", {
    file_patterns: textsKey("File names", '["*.sql"]'),
    project_markers: textsKey("Files that mark a project", "[package.json]"),
    explicit_only: flagKey("Only when the user asks for it"),
  }),
  dependencies: block("Other agents", {
    requires: list(
      reference("agent", { meaning: "", example: "", context: "dependencies.requires" }),
      "Agents that it needs",
      "[helper@^1.0.0]",
    ),
    recommends: textsKey("Agents that go well with it", "[test-architect]"),
    conflicts: textsKey("Agents that do not go together with it", "[format-fixer]"),
  }),
  epistemic_nature: block("How far its claims reach", NATURE),
  domain_profile: textKey("A vocabulary profile for the host", "payments"),
};

const MISSION: Keys = {
  opener: proseKey(
    "The opening paragraph; the description if it is missing",
    "You review one change at a time.",
  ),
  stakes: proseKey("What depends on it", "A wrong verdict reaches production."),
  outcome_framing: proseKey("What a good result is", "The team merges with confidence."),
  role_boundaries: prosesKey("Where its part ends", "[Leave style to the formatter.]"),
  explicit_prohibitions: prosesKey("What it must never do", "[Never edit a file.]"),
  epistemic_limitations: prosesKey("What it cannot know", "[You do not see production data.]"),
  vocabulary_rationale: proseKey("Why it uses these words", "MERGE is what reviewers already say."),
  taxonomy_mandate: flagKey("False: findings need no failure code", { example: "false" }),
};

const CONTEXT: Keys = {
  working_directory: textKey("Where it works", "services/api"),
  environment: environment("Environment variables"),
  timeout_behavior: wordKey("What to do when time runs out", ["fail", "warn", "continue"]),
  shell: textKey("The shell for its commands", "bash"),
  data_sources: entries(
    "What it can look at",
    {
      id: textKey("Its id", "ci"),
      name: textKey("Its name", "Build server"),
      description: proseKey("What is in it", "Results of the last thirty days."),
      tools: entries(
        "Tools to read it with",
        {
          name: textKey("Name of the tool", "gh"),
          purpose: proseKey("What it is for", "List runs"),
          description: proseKey("The same as `purpose`", "List runs"),
          usage: textKey("How to call it", "gh run list"),
        },
        { main: "name" },
      ),
      commands: entries(
        "Commands to read it with",
        {
          command: textKey("The command", "gh run list --limit 30"),
          purpose: proseKey("What it is for", "Find slow runs"),
          description: proseKey("The same as `purpose`", "Find slow runs"),
        },
        { main: "command" },
      ),
    },
    { main: "name" },
  ),
};

const OUTPUT: Keys = {
  format: wordKey("The form of the answer", ["markdown", "json", "html", "structured"]),
  schema: textKey("The name of a schema, or a JSON Schema", "validator-output-v1.1", { or: ["names"] }),
  token_budget: block("The length of the answer", {
    target: integerKey("Tokens to aim for", 800),
    max: integerKey("Tokens to stay below", 1500),
    guidance: proseKey("What to shorten first", "Shorten the examples first."),
  }),
  section_order: textsKey("Sections in their order", "[Verdict, Findings]"),
  sections: entries(
    "Templates of sections, in their order",
    {
      id: textKey("Its id", "verdict"),
      name: textKey("Its name, if there is no id", "Verdict"),
      template: textKey("Its text", '"## Verdict\\n{{decision}}"'),
      condition: textKey("When to write it", "findings > 0"),
      description: proseKey("What belongs into it", "One sentence."),
    },
    { main: "template" },
  ),
  examples: entries(
    "Sample answers",
    {
      scenario: proseKey("The situation", "A small change without tests"),
      name: proseKey("The same as `scenario`", "Small change"),
      description: proseKey("The same as `scenario`", "A small change"),
      input: textKey("What the agent is given", "diff --git a/x b/x"),
      output: textKey("What it answers", '"HOLD: there are no tests."'),
    },
    { main: "output" },
  ),
  templates: names(textKey("", ""), "Further templates by name", '{row: "{{time}}: {{event}}"}'),
  metrics: names(
    block(
      "",
      {
        label: textKey("Its name", "Open findings"),
        description: textKey("What it counts", "Findings that block"),
        type: textKey("Its type", "integer"),
        sentiment: wordKey("How to read it", ["lower_is_better", "higher_is_better"], { or: ["text"] }),
        section: textKey("The section it stands in", "summary"),
      },
      { or: ["text"] },
    ),
    "Figures that the answer has",
  ),
  implications: block("A section that looks ahead", {
    section_label: textKey("Its title", "What this means"),
    framing_question: proseKey("The question it answers", "What should the team do next?"),
    scope_boundary: proseKey("Its limits", "No staffing advice."),
  }),
  classification: free("How answers are classified", "internal"),
  structured: free("Details of a structured answer", "{version: 2}"),
};

const FORECAST: Keys = {
  actor_type: textKey("Whose behavior is forecast", "team"),
  time_horizon: textKey("`near-term`, `medium-term` or `long-term`", "medium-term"),
  propagation_mechanism: proseKey("How effects spread", "through shared libraries"),
  prediction_format: proseKey("The form of a prediction", "probability and reason"),
};

/** Everything below `agent`. */
export const AGENT_KEYS: Keys = {
  interface: block("What identifies the agent", INTERFACE, { isRequired: true }),
  defaults: block("How a host runs it", {
    model: model("A model: `haiku`, `sonnet`, `opus`, or one of the catalog", "sonnet"),
    timeout: integerKey(TIMEOUT_MS, 300_000),
    max_tokens: integerKey("Longest answer", 8_000),
    temperature: numberKey("From 0 to 1", 0.2),
  }),
  mission: block("Why it exists", MISSION),
  context: block("Where it works and what it can look at", CONTEXT),
  ...AGENT_WORK,
  output: block("What its answer looks like", OUTPUT),
  forecast: block("The frame of its forecasts", FORECAST),
  handoff: block(
    "What it is given and hands on",
    {
      upstream_context: block(
        "From those before it",
        {
          accepts: textsKey("What it accepts", "[test report]"),
          input_contract: proseKey("What it must be given", "A commit and its diff."),
        },
        { isOpen: true },
      ),
      downstream_artifacts: block(
        "To those after it",
        {
          produces: textsKey("What it hands on", "[verdict]"),
          output_contract: proseKey("What it promises", "One verdict per change."),
        },
        { isOpen: true },
      ),
    },
    { isOpen: true },
  ),
  composition: free("How it is combined with others", "{pairs_with: [test-architect]}"),
  cognitive_lens: block(
    "The way of thinking that it borrows",
    {
      thinker: textKey("Whose view it takes", "Ada Lovelace"),
      name: textKey("The same as `thinker`", "Ada Lovelace"),
      lens: textKey("The same as `thinker`", "Ada Lovelace"),
      description: proseKey("What the view is", "Separate the machine from what it computes."),
      axioms: entries(
        "What it takes for granted",
        {
          id: textKey("Its id", "a1"),
          name: textKey("Its name", "Generality"),
          axiom: proseKey("The axiom", "A method is worth more than a result."),
          statement: proseKey("The same as `axiom`", "A method is worth more than a result."),
          description: proseKey("The same as `axiom`", "A method is worth more than a result."),
          text: proseKey("The same as `axiom`", "A method is worth more than a result."),
          consequence: proseKey("What follows", "Look for the method."),
          consequences: prosesKey("What follows", "[Look for the method.]"),
        },
        { main: "axiom", isOpen: true },
      ),
      failure_signatures: entries(
        "How the view misleads",
        {
          id: textKey("Its id", "f1"),
          name: textKey("Its name", "Overreach"),
          signature: proseKey("How to notice it", "Every example becomes a rule."),
          pattern: proseKey("The same as `signature`", "Every example becomes a rule."),
          description: proseKey("The same as `signature`", "Every example becomes a rule."),
          text: proseKey("The same as `signature`", "Every example becomes a rule."),
          mitigation: proseKey("What helps", "Ask for a counterexample."),
        },
        { main: "signature", isOpen: true },
      ),
    },
    { isOpen: true },
  ),
  tone: block(
    "How it sounds",
    {
      attributes: textsKey("Words for its tone", "[calm, exact]"),
      guidelines: prosesKey("How to write", "[Name the line.]"),
    },
    { isOpen: true },
  ),
  meta: META,
};
