/** The keys of agents. */
import { DEFINITION_AGENT_TYPES } from "../../vocabulary.ts";
import { AGENT_WORK } from "./agent_work_keys.ts";
import { environment, interfaceKeys, META, TIMEOUT_MS } from "./common_keys.ts";
import {
  block,
  entries,
  flag,
  free,
  integer,
  type Keys,
  list,
  model,
  names,
  number,
  prose,
  proses,
  reference,
  text,
  texts,
  tool,
  word,
} from "./keys.ts";

/** Tools of the language. */
export const TOOLS = ["Read", "Grep", "Glob", "Bash", "Web", "API", "MCP"] as const;

const NATURE: Keys = {
  verifiability: word("Who can check its claims", [
    "mechanically_checkable",
    "expert_judgment",
    "not_checkable",
  ]),
  determinism: word("Whether a second run says the same", [
    "deterministic",
    "stochastic",
    "environment_dependent",
  ]),
  claim_type: word("What it claims", ["factual", "normative", "observational"]),
};

const INTERFACE: Keys = {
  ...interfaceKeys("agent"),
  agentType: word("What kind of agent it is, which decides the blocks it needs", DEFINITION_AGENT_TYPES, {
    isRequired: true,
  }),
  tools: list(
    tool("", ""),
    `Tools it may use: ${TOOLS.join(", ")}; without this key, reading tools or all tools`,
    "[Read, Grep]",
  ),
  risk_level: word("Shown in the registry", ["low", "standard", "high", "critical"]),
  triggers: block("When a host proposes the agent", {
    file_patterns: texts("File names", '["*.sql"]'),
    project_markers: texts("Files that mark a project", "[package.json]"),
    explicit_only: flag("Only when the user asks for it"),
  }),
  dependencies: block("Other agents", {
    requires: list(
      reference("agent", { meaning: "", example: "", context: "dependencies.requires" }),
      "Agents that it needs",
      "[helper@^1.0.0]",
    ),
    recommends: texts("Agents that go well with it", "[test-architect]"),
    conflicts: texts("Agents that do not go together with it", "[format-fixer]"),
  }),
  epistemic_nature: block("How far its claims reach", NATURE),
  domain_profile: text("A vocabulary profile for the host", "payments"),
};

const MISSION: Keys = {
  opener: prose(
    "The opening paragraph; the description if it is missing",
    "You review one change at a time.",
  ),
  stakes: prose("What depends on it", "A wrong verdict reaches production."),
  outcome_framing: prose("What a good result is", "The team merges with confidence."),
  role_boundaries: proses("Where its part ends", "[Leave style to the formatter.]"),
  explicit_prohibitions: proses("What it must never do", "[Never edit a file.]"),
  epistemic_limitations: proses("What it cannot know", "[You do not see production data.]"),
  vocabulary_rationale: prose("Why it uses these words", "MERGE is what reviewers already say."),
  taxonomy_mandate: flag("False: findings need no failure code", { example: "false" }),
};

const CONTEXT: Keys = {
  working_directory: text("Where it works", "services/api"),
  environment: environment("Environment variables"),
  timeout_behavior: word("What to do when time runs out", ["fail", "warn", "continue"]),
  shell: text("The shell for its commands", "bash"),
  data_sources: entries(
    "What it can look at",
    {
      id: text("Its id", "ci"),
      name: text("Its name", "Build server"),
      description: prose("What is in it", "Results of the last thirty days."),
      tools: entries(
        "Tools to read it with",
        {
          name: text("Name of the tool", "gh"),
          purpose: prose("What it is for", "List runs"),
          description: prose("The same as `purpose`", "List runs"),
          usage: text("How to call it", "gh run list"),
        },
        { main: "name" },
      ),
      commands: entries(
        "Commands to read it with",
        {
          command: text("The command", "gh run list --limit 30"),
          purpose: prose("What it is for", "Find slow runs"),
          description: prose("The same as `purpose`", "Find slow runs"),
        },
        { main: "command" },
      ),
    },
    { main: "name" },
  ),
};

const OUTPUT: Keys = {
  format: word("The form of the answer", ["markdown", "json", "html", "structured"]),
  schema: text("The name of a schema, or a JSON Schema", "validator-output-v1.1", { or: ["names"] }),
  token_budget: block("The length of the answer", {
    target: integer("Tokens to aim for", 800),
    max: integer("Tokens to stay below", 1500),
    guidance: prose("What to shorten first", "Shorten the examples first."),
  }),
  section_order: texts("Sections in their order", "[Verdict, Findings]"),
  sections: entries(
    "Templates of sections, in their order",
    {
      id: text("Its id", "verdict"),
      name: text("Its name, if there is no id", "Verdict"),
      template: text("Its text", '"## Verdict\\n{{decision}}"'),
      condition: text("When to write it", "findings > 0"),
      description: prose("What belongs into it", "One sentence."),
    },
    { main: "template" },
  ),
  examples: entries(
    "Sample answers",
    {
      scenario: prose("The situation", "A small change without tests"),
      name: prose("The same as `scenario`", "Small change"),
      description: prose("The same as `scenario`", "A small change"),
      input: text("What the agent is given", "diff --git a/x b/x"),
      output: text("What it answers", '"HOLD: there are no tests."'),
    },
    { main: "output" },
  ),
  templates: names(text("", ""), "Further templates by name", '{row: "{{time}}: {{event}}"}'),
  metrics: names(
    block(
      "",
      {
        label: text("Its name", "Open findings"),
        description: text("What it counts", "Findings that block"),
        type: text("Its type", "integer"),
        sentiment: word("How to read it", ["lower_is_better", "higher_is_better"], { or: ["text"] }),
        section: text("The section it stands in", "summary"),
      },
      { or: ["text"] },
    ),
    "Figures that the answer has",
  ),
  implications: block("A section that looks ahead", {
    section_label: text("Its title", "What this means"),
    framing_question: prose("The question it answers", "What should the team do next?"),
    scope_boundary: prose("Its limits", "No staffing advice."),
  }),
  classification: free("How answers are classified", "internal"),
  structured: free("Details of a structured answer", "{version: 2}"),
};

const FORECAST: Keys = {
  actor_type: text("Whose behavior is forecast", "team"),
  time_horizon: text("`near-term`, `medium-term` or `long-term`", "medium-term"),
  propagation_mechanism: prose("How effects spread", "through shared libraries"),
  prediction_format: prose("The form of a prediction", "probability and reason"),
};

/** Everything below `agent`. */
export const AGENT_KEYS: Keys = {
  interface: block("What identifies the agent", INTERFACE, { isRequired: true }),
  defaults: block("How a host runs it", {
    model: model("A model: `haiku`, `sonnet`, `opus`, or one of the catalog", "sonnet"),
    timeout: integer(TIMEOUT_MS, 300_000),
    max_tokens: integer("Longest answer", 8_000),
    temperature: number("From 0 to 1", 0.2),
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
          accepts: texts("What it accepts", "[test report]"),
          input_contract: prose("What it must be given", "A commit and its diff."),
        },
        { isOpen: true },
      ),
      downstream_artifacts: block(
        "To those after it",
        {
          produces: texts("What it hands on", "[verdict]"),
          output_contract: prose("What it promises", "One verdict per change."),
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
      thinker: text("Whose view it takes", "Ada Lovelace"),
      name: text("The same as `thinker`", "Ada Lovelace"),
      lens: text("The same as `thinker`", "Ada Lovelace"),
      description: prose("What the view is", "Separate the machine from what it computes."),
      axioms: entries(
        "What it takes for granted",
        {
          id: text("Its id", "a1"),
          name: text("Its name", "Generality"),
          axiom: prose("The axiom", "A method is worth more than a result."),
          statement: prose("The same as `axiom`", "A method is worth more than a result."),
          description: prose("The same as `axiom`", "A method is worth more than a result."),
          text: prose("The same as `axiom`", "A method is worth more than a result."),
          consequence: prose("What follows", "Look for the method."),
          consequences: proses("What follows", "[Look for the method.]"),
        },
        { main: "axiom", isOpen: true },
      ),
      failure_signatures: entries(
        "How the view misleads",
        {
          id: text("Its id", "f1"),
          name: text("Its name", "Overreach"),
          signature: prose("How to notice it", "Every example becomes a rule."),
          pattern: prose("The same as `signature`", "Every example becomes a rule."),
          description: prose("The same as `signature`", "Every example becomes a rule."),
          text: prose("The same as `signature`", "Every example becomes a rule."),
          mitigation: prose("What helps", "Ask for a counterexample."),
        },
        { main: "signature", isOpen: true },
      ),
    },
    { isOpen: true },
  ),
  tone: block(
    "How it sounds",
    {
      attributes: texts("Words for its tone", "[calm, exact]"),
      guidelines: proses("How to write", "[Name the line.]"),
    },
    { isOpen: true },
  ),
  meta: META,
};
