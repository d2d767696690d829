/** The demo's agents, and the texts of its findings and notes. */

export interface DemoAgent {
  name: string;
  agentType: string;
  model: string;
  harness: string;
  /** Decisions from best to worst. */
  decisions: readonly [string, string, string];
}

/** The demo's agents. Each project has four of them, and projects differ in their agents. */
export const DEMO_AGENTS: readonly DemoAgent[] = [
  {
    name: "code-reviewer",
    agentType: "validator",
    model: "claude-sonnet-4-5",
    harness: "claude-code",
    decisions: ["PASS", "WARN", "FAIL"],
  },
  {
    name: "security-auditor",
    agentType: "validator",
    model: "claude-opus-4-1",
    harness: "claude-code",
    decisions: ["PASS", "WARN", "FAIL"],
  },
  {
    name: "performance-analyst",
    agentType: "analyst",
    model: "gpt-5",
    harness: "codex-cli",
    decisions: ["GOOD", "WATCH", "ACT"],
  },
  {
    name: "architecture-explorer",
    agentType: "explorer",
    model: "gemini-2.5-pro",
    harness: "gemini-cli",
    decisions: ["MAPPED", "PARTIAL", "UNCLEAR"],
  },
  {
    name: "release-gatekeeper",
    agentType: "validator",
    model: "gpt-5-mini",
    harness: "codex-cli",
    decisions: ["SHIP", "HOLD", "BLOCK"],
  },
  {
    name: "test-coverage-checker",
    agentType: "validator",
    model: "claude-haiku-4-5",
    harness: "claude-code",
    decisions: ["PASS", "WARN", "FAIL"],
  },
  {
    name: "incident-forecaster",
    agentType: "forecaster",
    model: "gemini-2.5-flash",
    harness: "gemini-cli",
    decisions: ["CALM", "ELEVATED", "STORM"],
  },
  {
    name: "docs-generator",
    agentType: "generator",
    model: "qwen3-coder",
    harness: "opencode",
    decisions: ["DONE", "PARTIAL", "REFUSED"],
  },
];

export interface DemoFinding {
  /** The finding's title; `%s` stands for the function with the finding. */
  title: string;
  code: string;
  domain: "STR" | "SEM" | "PRA" | "EPI";
  mode: string;
  category: string;
  type: string;
  severity: "critical" | "high" | "medium" | "low" | "info";
  description: string;
}

function finding(
  [severity, domain, category, type]: readonly [
    DemoFinding["severity"],
    DemoFinding["domain"],
    string,
    string,
  ],
  [code, mode]: readonly [string, string],
  [title, description]: readonly [string, string],
): DemoFinding {
  return { title, code, domain, mode, category, type, severity, description };
}

export const DEMO_FINDINGS: readonly DemoFinding[] = [
  finding(
    ["critical", "SEM", "security", "vulnerability"],
    ["SEM-INJ-01", "unsanitized input"],
    [
      "SQL text is put together from request input in %s",
      "The query is built with string concatenation; a crafted value ends the literal and adds a statement of its own. Bind the value as a parameter.",
    ],
  ),
  finding(
    ["critical", "PRA", "security", "secret"],
    ["PRA-SEC-02", "exposed secret"],
    [
      "Access token is written to the log by %s",
      "The whole request is logged at level info, headers included. Anyone who can read the log can act as the customer.",
    ],
  ),
  finding(
    ["high", "SEM", "correctness", "bug"],
    ["SEM-ASY-01", "lost failure"],
    [
      "Rejected promise is not handled in %s",
      "The call is neither awaited nor caught. When the upstream answers 503 the process exits with an unhandled rejection.",
    ],
  ),
  finding(
    ["high", "SEM", "correctness", "bug"],
    ["SEM-RAC-03", "race"],
    [
      "Read and write of the balance are not atomic in %s",
      "Two requests that arrive together both read the old value; the second write wins and one booking is lost.",
    ],
  ),
  finding(
    ["high", "PRA", "performance", "bottleneck"],
    ["PRA-PER-01", "query per row"],
    [
      "One query per row is sent by %s",
      "A list of 50 entries costs 51 round trips. Fetch the related rows with one `where id = any($1)`.",
    ],
  ),
  finding(
    ["high", "STR", "reliability", "bug"],
    ["STR-TMO-01", "missing bound"],
    [
      "Outgoing call has no timeout in %s",
      "A peer that accepts the connection and never answers holds the worker for ever; the pool runs dry within minutes.",
    ],
  ),
  finding(
    ["high", "EPI", "testing", "test-gap"],
    ["EPI-TST-02", "unproven claim"],
    [
      "Refund path of %s is not covered by any test",
      "The summary claims full coverage, yet no test reaches the branch that books the refund.",
    ],
  ),
  finding(
    ["medium", "STR", "maintainability", "code-smell"],
    ["STR-CPX-01", "too complex"],
    [
      "Function %s has a cognitive complexity of 34",
      "Five levels of nesting and three flags decide one result. Split it by case; each reads in a few lines then.",
    ],
  ),
  finding(
    ["medium", "STR", "maintainability", "code-smell"],
    ["STR-DUP-01", "duplicate"],
    [
      "Rounding rules are repeated in %s",
      "The same twelve lines stand in three modules, and one of them rounds half down.",
    ],
  ),
  finding(
    ["medium", "SEM", "correctness", "bug"],
    ["SEM-TZN-01", "time zone"],
    [
      "Local time is compared with UTC in %s",
      "Between midnight and 02:00 the comparison is off by one day for customers east of Greenwich.",
    ],
  ),
  finding(
    ["medium", "SEM", "accessibility", "bug"],
    ["SEM-A11-01", "unnamed control"],
    [
      "Icon button rendered by %s has no accessible name",
      "A screen reader says “button” and nothing else. Add a label that says what it does.",
    ],
  ),
  finding(
    ["medium", "PRA", "performance", "bottleneck"],
    ["PRA-PER-04", "missing index"],
    [
      "Filter column used by %s has no index",
      "The plan shows a sequential scan over 1.2 million rows: 840 ms at the median, 3.1 s at p99.",
    ],
  ),
  finding(
    ["medium", "EPI", "documentation", "doc-gap"],
    ["EPI-DOC-01", "stale claim"],
    [
      "Comment on %s describes behavior it no longer has",
      "The comment promises a retry; the retry was removed two releases ago.",
    ],
  ),
  finding(
    ["medium", "PRA", "reliability", "bug"],
    ["PRA-RTY-01", "unsafe retry"],
    [
      "Retry without an idempotency key in %s",
      "When the answer is lost after the charge went through, the retry charges a second time.",
    ],
  ),
  finding(
    ["low", "STR", "style", "code-style"],
    ["STR-NAM-02", "misleading name"],
    [
      "Name of %s says less than it does",
      "It also sends the confirmation email, which no caller can guess from its name.",
    ],
  ),
  finding(
    ["low", "STR", "maintainability", "dead-code"],
    ["STR-DED-01", "dead code"],
    [
      "Branch of %s can never be reached",
      "The guard above returns for every value that the branch tests for.",
    ],
  ),
  finding(
    ["low", "PRA", "performance", "waste"],
    ["PRA-MEM-01", "needless copy"],
    [
      "Whole list is copied on every call of %s",
      "The caller only reads it. With 10,000 entries the copy is most of the time spent.",
    ],
  ),
  finding(
    ["low", "EPI", "testing", "test-gap"],
    ["EPI-TST-05", "cannot fail"],
    [
      "Test of %s cannot fail",
      "The assertion compares the mock with itself; deleting the function's body leaves it green.",
    ],
  ),
  finding(
    ["info", "PRA", "dependencies", "dependency"],
    ["PRA-DEP-01", "outdated"],
    [
      "Package used by %s is two major versions behind",
      "The newer versions are typed and a third of the size; none of the changes touches what is used here.",
    ],
  ),
  finding(
    ["info", "STR", "style", "code-style"],
    ["STR-IMP-01", "import order"],
    [
      "Imports of the module of %s are unordered",
      "Order them as the formatter does, so that diffs stay small.",
    ],
  ),
];

export const DEMO_VERBS: readonly string[] = [
  "apply",
  "build",
  "cancel",
  "check",
  "close",
  "collect",
  "fetch",
  "format",
  "load",
  "merge",
  "parse",
  "refresh",
  "render",
  "resolve",
  "save",
  "sync",
];

/** Folders and nouns for the file paths and function names in findings. */
export const DEMO_THINGS: readonly (readonly [folder: string, thing: string])[] = [
  ["billing", "Invoice"],
  ["billing", "Refund"],
  ["billing", "TaxRate"],
  ["cart", "CartLine"],
  ["cart", "Discount"],
  ["catalog", "Price"],
  ["catalog", "ProductList"],
  ["customs", "Declaration"],
  ["customs", "TariffCode"],
  ["identity", "Login"],
  ["identity", "Session"],
  ["notify", "Mail"],
  ["notify", "PushMessage"],
  ["recipes", "Ingredient"],
  ["recipes", "ShoppingList"],
  ["search", "Facet"],
  ["search", "QueryPlan"],
  ["search", "Suggestion"],
  ["shipping", "Container"],
  ["shipping", "Manifest"],
  ["shipping", "Route"],
  ["ui", "DatePicker"],
  ["ui", "Dialog"],
  ["ui", "Theme"],
];

export const DEMO_WORKFLOWS: readonly string[] = ["pull-request-review", "nightly-audit", "release-check"];

/** Notes by type. Only closed issues have a resolution. */
export const DEMO_NOTES: Readonly<Record<"context" | "blocker" | "resolution", readonly string[]>> = {
  context: [
    "Seen by a customer last week as well; the ticket has a recording.",
    "Same pattern as in the export module, see the discussion there before changing it.",
    "Only happens when the feature flag `fast-path` is on.\n\nSteps:\n1. sign in as a reseller\n2. open the second page\n3. go back",
  ],
  blocker: [
    "Waits for the migration of the ledger: the column does not exist yet in production.",
    "The vendor has confirmed the bug; a fixed client is promised for their next release.",
  ],
  resolution: [
    "Fixed and covered by a test that fails without the fix.",
    "Gone with the rewrite of the module; checked against the last three runs.",
    'Closed after review: the value can only be "internal" here.',
  ],
};
