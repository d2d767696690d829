/**
 * The eight datasets of an export: the one list of their columns, filters and flags. SQL, CSV header, JSON Schema,
 * OpenAPI, `GET /export/datasets` and `admin import` are all made from it.
 */

import {
  AGENT_TYPES,
  CLASSIFICATION_CONFIDENCES,
  CLASSIFIERS,
  CORRELATION_STATUSES,
  DEFINITION_TYPES,
  FAILURE_DOMAINS,
  FAILURE_SEVERITY_CODES,
  ISSUE_PRIORITIES,
  ISSUE_STATUSES,
  NOTE_TYPES,
  SEVERITIES,
  TRANSITION_TYPES,
} from "../vocabulary.ts";
import {
  bigIntegerColumn,
  booleanColumn,
  type ExportColumn,
  integerColumn,
  jsonColumn,
  nullableColumn,
  numberColumn,
  textColumn,
  timestampColumn,
  uuidColumn,
  wordColumn,
} from "./column.ts";

export const EXPORT_DATASET_NAMES = [
  "issues",
  "issue-notes",
  "status-history",
  "occurrences",
  "runs",
  "agent-snapshots",
  "analysis-summaries",
  "analysis-records",
] as const;
export type ExportDatasetName = (typeof EXPORT_DATASET_NAMES)[number];

/** Query parameters that widen or narrow what is visible (docs/contract.md, Exports). */
export const VISIBILITY_FLAGS = [
  "include_deleted",
  "include_archived",
  "include_superseded",
  "include_resolved",
] as const;
export type VisibilityFlag = (typeof VISIBILITY_FLAGS)[number];

/** A repeatable query parameter: rows whose column has any of the values. */
export interface ExportFilter {
  name: string;
  column: string;
  type: "uuid" | "text";
  /** The allowed values; others are rejected. */
  values?: readonly string[];
}

export interface ExportDataset {
  name: ExportDatasetName;
  table: string;
  /** The column that `as_of` compares, and the first column of the order, before the id. */
  timeColumn: "created_at" | "changed_at";
  columns: readonly ExportColumn[];
  filters: readonly ExportFilter[];
  flags: readonly VisibilityFlag[];
  /** Whether rows belong to an issue, a run, or both. Rows of a hidden parent are hidden too. */
  parents: readonly ("issues" | "runs")[];
}

const ISSUE_FLAGS = ["include_deleted", "include_resolved"] as const;
const PARENT_ISSUE = uuidColumn("issue_id", "The issue it belongs to (issues.id)");
const PARENT_RUN = uuidColumn("run_id", "The run it belongs to (runs.id)");
const CREATED_AT = timestampColumn("created_at", "When the row was inserted; compared with as_of");
const UPDATED_AT = timestampColumn("updated_at", "When the row was last changed");

const issues: ExportDataset = {
  name: "issues",
  table: "issues",
  timeColumn: "created_at",
  columns: [
    uuidColumn("id", "Id of the issue, referenced by issueId of other datasets"),
    uuidColumn("project_id", "The project"),
    textColumn(
      "fingerprint",
      "SHA-256 that identifies the finding, 64 hex digits, unique in the project",
      64,
    ),
    nullableColumn(
      textColumn("semantic_fingerprint", "Fingerprint of the meaning, shared by equivalent findings"),
    ),
    nullableColumn(uuidColumn("author_id", "The user who recorded it")),
    textColumn("title", "The finding, in one line", 500),
    wordColumn("status", ISSUE_STATUSES, "Current status"),
    wordColumn("priority", ISSUE_PRIORITIES, "Priority"),
    nullableColumn(wordColumn("severity", SEVERITIES, "Severity")),
    nullableColumn(textColumn("failure_code", "Code of the failure in the agent's taxonomy")),
    nullableColumn(
      wordColumn("failure_domain", FAILURE_DOMAINS, "Structural, semantic, pragmatic or epistemic"),
    ),
    nullableColumn(textColumn("failure_mode", "Failure mode")),
    nullableColumn(
      wordColumn("failure_severity_code", FAILURE_SEVERITY_CODES, "Severity letter of the failure taxonomy"),
    ),
    nullableColumn(textColumn("category", "Category the agent filed it under", 100)),
    nullableColumn(textColumn("agent", "Name of the agent that found it", 100)),
    nullableColumn(textColumn("type", "Kind of issue, an open list", 50)),
    nullableColumn(textColumn("file_path", "File it was found in", 1000)),
    nullableColumn(integerColumn("line_number", "Line it was found at")),
    integerColumn("times_seen", "Number of runs that found it"),
    uuidColumn("first_seen_run_id", "The run that found it first; informational"),
    uuidColumn("last_seen_run_id", "The run that found it last; informational"),
    nullableColumn(timestampColumn("resolved_at", "When it was resolved")),
    nullableColumn(uuidColumn("merged_into_issue_id", "The issue it was merged into; informational")),
    nullableColumn(timestampColumn("deleted_at", "When it was soft-deleted")),
    CREATED_AT,
    UPDATED_AT,
  ],
  filters: [
    { name: "status", column: "status", type: "text", values: ISSUE_STATUSES },
    { name: "priority", column: "priority", type: "text", values: ISSUE_PRIORITIES },
    { name: "severity", column: "severity", type: "text", values: SEVERITIES },
  ],
  flags: ISSUE_FLAGS,
  parents: [],
};

const issueNotes: ExportDataset = {
  name: "issue-notes",
  table: "issue_notes",
  timeColumn: "created_at",
  columns: [
    uuidColumn("id", "Id of the note"),
    PARENT_ISSUE,
    textColumn("content", "The note's text", 10_000),
    wordColumn("note_type", NOTE_TYPES, "Kind of note"),
    nullableColumn(textColumn("created_by", "Who wrote it")),
    CREATED_AT,
  ],
  filters: [
    { name: "issue_id", column: "issue_id", type: "uuid" },
    { name: "note_type", column: "note_type", type: "text", values: NOTE_TYPES },
  ],
  flags: ISSUE_FLAGS,
  parents: ["issues"],
};

const statusHistory: ExportDataset = {
  name: "status-history",
  table: "status_history",
  timeColumn: "changed_at",
  columns: [
    uuidColumn("id", "Id of the change"),
    PARENT_ISSUE,
    nullableColumn(textColumn("old_status", "Previous status; null for the first")),
    textColumn("new_status", "New status"),
    nullableColumn(textColumn("reason", "Why it changed", 1000)),
    timestampColumn("changed_at", "When the status changed; compared with as_of"),
    nullableColumn(wordColumn("transition_type", TRANSITION_TYPES, "A change or an undo")),
    nullableColumn(uuidColumn("reverted_change_id", "The change that this one reverts; informational")),
    nullableColumn(uuidColumn("run_id", "The run that caused it; informational")),
    nullableColumn(textColumn("source", "What caused it")),
    nullableColumn(bigIntegerColumn("seq", "Insertion order")),
  ],
  filters: [
    { name: "issue_id", column: "issue_id", type: "uuid" },
    { name: "new_status", column: "new_status", type: "text", values: ISSUE_STATUSES },
  ],
  flags: ISSUE_FLAGS,
  parents: ["issues"],
};

const occurrences: ExportDataset = {
  name: "occurrences",
  table: "occurrences",
  timeColumn: "created_at",
  columns: [
    uuidColumn("id", "Id of the occurrence"),
    PARENT_ISSUE,
    PARENT_RUN,
    textColumn("agent_name", "Name of the agent that saw it", 100),
    nullableColumn(textColumn("description", "The agent's description in this run", 10_000)),
    nullableColumn(textColumn("file_path", "File it was seen in")),
    nullableColumn(integerColumn("line_number", "Line it was seen at")),
    nullableColumn(
      wordColumn("classification_confidence", CLASSIFICATION_CONFIDENCES, "Confidence of the classification"),
    ),
    nullableColumn(wordColumn("classified_by", CLASSIFIERS, "Who classified it")),
    nullableColumn(
      wordColumn(
        "correlation_status",
        CORRELATION_STATUSES,
        "Whether the finding is new, recurring or a regression",
      ),
    ),
    nullableColumn(
      textColumn(
        "convergence_cluster_id",
        "Shared by findings of several agents at the same place in a run",
        64,
      ),
    ),
    CREATED_AT,
  ],
  filters: [
    { name: "issue_id", column: "issue_id", type: "uuid" },
    { name: "run_id", column: "run_id", type: "uuid" },
    { name: "agent", column: "agent_name", type: "text" },
  ],
  flags: [...ISSUE_FLAGS, "include_archived"],
  parents: ["issues", "runs"],
};

const runs: ExportDataset = {
  name: "runs",
  table: "runs",
  timeColumn: "created_at",
  columns: [
    uuidColumn("id", "Id of the run, referenced by runId of other datasets"),
    uuidColumn("project_id", "The project"),
    nullableColumn(uuidColumn("author_id", "The user who ran it")),
    integerColumn("run_number", "Number of the run in its project, from 1"),
    textColumn("workflow_type", "Kind of workflow that ran", 100),
    timestampColumn("timestamp", "When the client says it ran"),
    nullableColumn(booleanColumn("all_gates_passed", "Whether every gate passed")),
    nullableColumn(numberColumn("average_score", "Mean score of its agents, 0 to 100")),
    nullableColumn(textColumn("raw_markdown", "The report", 500_000)),
    nullableColumn(timestampColumn("archived_at", "When it was archived")),
    nullableColumn(textColumn("archive_reason", "Why it was archived", 500)),
    nullableColumn(textColumn("idempotency_key", "Key under which the client sent it", 100)),
    nullableColumn(textColumn("payload_hash", "Hash of what the client sent")),
    nullableColumn(wordColumn("definition_type", DEFINITION_TYPES, "Type of the definition that ran")),
    nullableColumn(textColumn("definition_name", "Name of the definition that ran", 100)),
    nullableColumn(textColumn("definition_version", "Version of the definition that ran", 50)),
    nullableColumn(textColumn("definition_hash", "Hash of the definition that ran")),
    nullableColumn(uuidColumn("definition_id", "Id of the definition that ran")),
    nullableColumn(integerColumn("new_issues_count", "Issues it found for the first time")),
    nullableColumn(integerColumn("recurring_issues_count", "Issues it found again")),
    nullableColumn(integerColumn("regressions_count", "Issues that came back after being resolved")),
    nullableColumn(integerColumn("observed_count", "Facts it observed")),
    CREATED_AT,
    UPDATED_AT,
  ],
  filters: [{ name: "workflow_type", column: "workflow_type", type: "text" }],
  flags: ["include_archived"],
  parents: [],
};

const agentSnapshots: ExportDataset = {
  name: "agent-snapshots",
  table: "agent_snapshots",
  timeColumn: "created_at",
  columns: [
    uuidColumn("id", "Id of the snapshot"),
    PARENT_RUN,
    textColumn("name", "Name of the agent", 100),
    nullableColumn(textColumn("definition_version", "Version of its definition")),
    nullableColumn(uuidColumn("registry_definition_id", "Its definition in the registry")),
    nullableColumn(numberColumn("score", "Score it gave, 0 to 100")),
    nullableColumn(numberColumn("max_score", "Highest score it could give")),
    textColumn("decision", "Its decision, an open list: PASS, WARN, FAIL, SHIP …", 50),
    nullableColumn(textColumn("summary", "Short summary by the agent", 2000)),
    nullableColumn(textColumn("model", "Model it ran on", 50)),
    nullableColumn(textColumn("model_raw", "Model as the harness reported it")),
    nullableColumn(textColumn("harness", "Program that ran it", 32)),
    nullableColumn(bigIntegerColumn("input_tokens", "Tokens read")),
    nullableColumn(bigIntegerColumn("output_tokens", "Tokens written")),
    nullableColumn(bigIntegerColumn("cache_creation_tokens", "Tokens written to the prompt cache")),
    nullableColumn(bigIntegerColumn("cache_read_tokens", "Tokens read from the prompt cache")),
    nullableColumn(bigIntegerColumn("cached_input_tokens", "Input tokens that were cached")),
    nullableColumn(bigIntegerColumn("reasoning_output_tokens", "Output tokens spent on reasoning")),
    nullableColumn(bigIntegerColumn("thinking_tokens", "Tokens spent on thinking")),
    nullableColumn(bigIntegerColumn("tool_tokens", "Tokens spent on tools")),
    nullableColumn(bigIntegerColumn("total_effective_tokens", "Tokens that count, all together")),
    nullableColumn(bigIntegerColumn("duration_ms", "How long it ran, in milliseconds")),
    nullableColumn(textColumn("agent_id", "The harness's id of the agent", 50)),
    CREATED_AT,
    UPDATED_AT,
  ],
  filters: [
    { name: "run_id", column: "run_id", type: "uuid" },
    { name: "agent", column: "name", type: "text" },
  ],
  flags: ["include_archived"],
  parents: ["runs"],
};

const analysisSummaries: ExportDataset = {
  name: "analysis-summaries",
  table: "analysis_summaries",
  timeColumn: "created_at",
  columns: [
    uuidColumn("id", "Id of the summary"),
    PARENT_RUN,
    textColumn("agent_name", "Name of the agent"),
    wordColumn("agent_type", AGENT_TYPES, "Type of the agent"),
    nullableColumn(textColumn("agent_type_source", "Source of the agent type")),
    textColumn("decision", "Its decision, an open list", 50),
    nullableColumn(numberColumn("score", "Score it gave")),
    nullableColumn(textColumn("decision_vocabulary", "Vocabulary of its decisions")),
    nullableColumn(jsonColumn("system_metrics", "Measurements of the run")),
    nullableColumn(jsonColumn("category_scores", "Score per category")),
    nullableColumn(jsonColumn("epistemic_assessment", "How far its findings can be trusted")),
    nullableColumn(jsonColumn("audit_implications", "What its findings mean for an audit")),
    nullableColumn(jsonColumn("exploration_maps", "What an explorer mapped")),
    nullableColumn(timestampColumn("superseded_at", "When a later summary replaced it")),
    CREATED_AT,
  ],
  filters: [
    { name: "run_id", column: "run_id", type: "uuid" },
    { name: "agent", column: "agent_name", type: "text" },
    { name: "agent_type", column: "agent_type", type: "text", values: AGENT_TYPES },
    { name: "decision", column: "decision", type: "text" },
  ],
  flags: ["include_archived", "include_superseded"],
  parents: ["runs"],
};

const analysisRecords: ExportDataset = {
  name: "analysis-records",
  table: "analysis_records",
  timeColumn: "created_at",
  columns: [
    uuidColumn("id", "Id of the record"),
    PARENT_RUN,
    textColumn("agent_name", "Name of the agent"),
    wordColumn("agent_type", AGENT_TYPES, "Type of the agent"),
    textColumn("record_type", "Kind of record, an open list", 50),
    textColumn("record_id", "The agent's own id of the record", 100),
    textColumn("title", "Title, in one line", 500),
    nullableColumn(textColumn("classification", "The agent's classification", 50)),
    nullableColumn(textColumn("severity", "Severity, in the agent's words")),
    jsonColumn("record_data", "Content of the record; may be JSON null"),
    nullableColumn(timestampColumn("superseded_at", "When a later record replaced it")),
    CREATED_AT,
  ],
  filters: [
    { name: "run_id", column: "run_id", type: "uuid" },
    { name: "agent", column: "agent_name", type: "text" },
    { name: "record_type", column: "record_type", type: "text" },
    { name: "severity", column: "severity", type: "text" },
  ],
  flags: ["include_archived", "include_superseded"],
  parents: ["runs"],
};

/** All datasets by name, in the order of a bundle. */
export const EXPORT_DATASETS: Readonly<Record<ExportDatasetName, ExportDataset>> = {
  issues,
  "issue-notes": issueNotes,
  "status-history": statusHistory,
  occurrences,
  runs,
  "agent-snapshots": agentSnapshots,
  "analysis-summaries": analysisSummaries,
  "analysis-records": analysisRecords,
};

export function findExportDataset(name: string): ExportDataset | null {
  return (EXPORT_DATASET_NAMES as readonly string[]).includes(name)
    ? EXPORT_DATASETS[name as ExportDatasetName]
    : null;
}
