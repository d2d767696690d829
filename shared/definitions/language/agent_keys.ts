/** The keys of agents. */
import { DEFINITION_AGENT_TYPES } from "../../vocabulary.ts";
import { AGENT_WORK } from "./agent_work_keys.ts";
import { environment, interfaceBlock, META, TIMEOUT_MS } from "./common_keys.ts";
import { type Keys, key } from "./keys.ts";

/** The tools that the language defines. */
export const TOOLS = ["Read", "Grep", "Glob", "Bash", "Web", "API", "MCP"] as const;

const NATURE: Keys = {
  verifiability: key.word("Who can check its claims", [
    "mechanically_checkable",
    "expert_judgment",
    "not_checkable",
  ]),
  determinism: key.word("Whether a second run says the same", [
    "deterministic",
    "stochastic",
    "environment_dependent",
  ]),
  claim_type: key.word("What it claims", ["factual", "normative", "observational"]),
};

const INTERFACE: Keys = {
  agentType: key.word("What kind of agent it is, which decides the blocks it needs", DEFINITION_AGENT_TYPES, {
    isRequired: true,
  }),
  tools: key.list(
    key.tool(),
    `Tools it may use: ${TOOLS.join(", ")}; without this key, reading tools or all tools`,
    "[Read, Grep]",
  ),
  risk_level: key.word("Shown in the registry", ["low", "standard", "high", "critical"]),
  triggers: key.block("When a host proposes the agent", {
    file_patterns: key.texts("File names", '["*.sql"]'),
    project_markers: key.texts("Files that mark a project", "[package.json]"),
    explicit_only: key.flag("Only when the user asks for it"),
  }),
  dependencies: key.block("Other agents", {
    requires: key.references("agent", "Agents that it needs", "[helper@^1.0.0]", {
      context: "dependencies.requires",
    }),
    recommends: key.texts("Agents that go well with it", "[test-architect]"),
    conflicts: key.texts("Agents that do not go together with it", "[format-fixer]"),
  }),
  epistemic_nature: key.block("How far its claims reach", NATURE),
  domain_profile: key.text("A vocabulary profile for the host", "payments"),
};

const MISSION: Keys = {
  opener: key.prose(
    "The opening paragraph; the description if it is missing",
    "You review one change at a time.",
  ),
  stakes: key.prose("What depends on it", "A wrong verdict reaches production."),
  outcome_framing: key.prose("What a good result is", "The team merges with confidence."),
  role_boundaries: key.proses("Where its part ends", "[Leave style to the formatter.]"),
  explicit_prohibitions: key.proses("What it must never do", "[Never edit a file.]"),
  epistemic_limitations: key.proses("What it cannot know", "[You do not see production data.]"),
  vocabulary_rationale: key.prose("Why it uses these words", "MERGE is what reviewers already say."),
  taxonomy_mandate: key.flag("False: findings need no failure code", { example: "false" }),
};

const CONTEXT: Keys = {
  working_directory: key.text("Where it works", "services/api"),
  environment: environment("Environment variables"),
  timeout_behavior: key.word("What to do when time runs out", ["fail", "warn", "continue"]),
  shell: key.text("The shell for its commands", "bash"),
  data_sources: key.entries("What it can look at", "name", {
    id: key.text("Its id", "ci"),
    name: key.text("Its name", "Build server"),
    description: key.prose("What is in it", "Results of the last thirty days."),
    tools: key.entries("Tools to read it with", "name", {
      name: key.text("Name of the tool", "gh"),
      "purpose, description": key.prose("What it is for", "List runs"),
      usage: key.text("How to call it", "gh run list"),
    }),
    commands: key.entries("Commands to read it with", "command", {
      command: key.text("The command", "gh run list --limit 30"),
      "purpose, description": key.prose("What it is for", "Find slow runs"),
    }),
  }),
};

const METRIC: Keys = {
  label: key.text("Its name", "Open findings"),
  description: key.text("What it counts", "Findings that block"),
  type: key.text("Its type", "integer"),
  sentiment: key.openWord("How to read it", ["lower_is_better", "higher_is_better"]),
  section: key.text("The section it stands in", "summary"),
};

const OUTPUT: Keys = {
  format: key.word("The form of the answer", ["markdown", "json", "html", "structured"]),
  schema: key.text("The name of a schema, or a JSON Schema", "validator-output-v1.1", { or: ["names"] }),
  token_budget: key.block("The length of the answer", {
    target: key.integer("Tokens to aim for", 800),
    max: key.integer("Tokens to stay below", 1500),
    guidance: key.prose("What to shorten first", "Shorten the examples first."),
  }),
  section_order: key.texts("Sections in their order", "[Verdict, Findings]"),
  sections: key.entries("Templates of sections, in their order", "template", {
    id: key.text("Its id", "verdict"),
    name: key.text("Its name, if there is no id", "Verdict"),
    template: key.text("Its text", '"## Verdict\\n{{decision}}"'),
    condition: key.text("When to write it", "findings > 0"),
    description: key.prose("What belongs into it", "One sentence."),
  }),
  examples: key.entries("Sample answers", "output", {
    scenario: key.prose("The situation", "A small change without tests"),
    name: key.prose("The same as `scenario`", "Small change"),
    description: key.prose("The same as `scenario`", "A small change"),
    input: key.text("What the agent is given", "diff --git a/x b/x"),
    output: key.text("What it answers", '"HOLD: there are no tests."'),
  }),
  templates: key.names(key.text(), "Further templates by name", '{row: "{{time}}: {{event}}"}'),
  metrics: key.names(key.block("", METRIC, { or: ["text"] }), "Figures that the answer has"),
  implications: key.block("A section that looks ahead", {
    section_label: key.text("Its title", "What this means"),
    framing_question: key.prose("The question it answers", "What should the team do next?"),
    scope_boundary: key.prose("Its limits", "No staffing advice."),
  }),
  classification: key.free("How answers are classified", "internal"),
  structured: key.free("Details of a structured answer", "{version: 2}"),
};

const FORECAST: Keys = {
  actor_type: key.text("Whose behavior is forecast", "team"),
  time_horizon: key.text("`near-term`, `medium-term` or `long-term`", "medium-term"),
  propagation_mechanism: key.prose("How effects spread", "through shared libraries"),
  prediction_format: key.prose("The form of a prediction", "probability and reason"),
};

/** The keys below `agent`. */
export const AGENT_KEYS: Keys = {
  interface: interfaceBlock("agent", INTERFACE),
  defaults: key.block("How a host runs it", {
    model: key.model("A model: `haiku`, `sonnet`, `opus`, or one of the catalog", "sonnet"),
    timeout: key.integer(TIMEOUT_MS, 300_000),
    max_tokens: key.integer("Longest answer", 8_000),
    temperature: key.number("From 0 to 1", 0.2),
  }),
  mission: key.block("Why it exists", MISSION),
  context: key.block("Where it works and what it can look at", CONTEXT),
  ...AGENT_WORK,
  output: key.block("What its answer looks like", OUTPUT),
  forecast: key.block("The frame of its forecasts", FORECAST),
  handoff: key.openBlock("What it is given and hands on", {
    upstream_context: key.openBlock("From those before it", {
      accepts: key.texts("What it accepts", "[test report]"),
      input_contract: key.prose("What it must be given", "A commit and its diff."),
    }),
    downstream_artifacts: key.openBlock("To those after it", {
      produces: key.texts("What it hands on", "[verdict]"),
      output_contract: key.prose("What it promises", "One verdict per change."),
    }),
  }),
  composition: key.free("How it is combined with others", "{pairs_with: [test-architect]}"),
  cognitive_lens: key.openBlock("The way of thinking that it borrows", {
    "thinker, name, lens": key.text("Whose view it takes", "Ada Lovelace"),
    description: key.prose("What the view is", "Separate the machine from what it computes."),
    axioms: key.openEntries("What it takes for granted", "axiom", {
      id: key.text("Its id", "a1"),
      name: key.text("Its name", "Generality"),
      "axiom, statement, description, text": key.prose("The axiom", "A method is worth more than a result."),
      consequence: key.prose("What follows", "Look for the method."),
      consequences: key.proses("What follows", "[Look for the method.]"),
    }),
    failure_signatures: key.openEntries("How the view misleads", "signature", {
      id: key.text("Its id", "f1"),
      name: key.text("Its name", "Overreach"),
      "signature, pattern, description, text": key.prose("How to notice it", "Every example becomes a rule."),
      mitigation: key.prose("What helps", "Ask for a counterexample."),
    }),
  }),
  tone: key.openBlock("How it sounds", {
    attributes: key.texts("Words for its tone", "[calm, exact]"),
    guidelines: key.proses("How to write", "[Name the line.]"),
  }),
  meta: META,
};
