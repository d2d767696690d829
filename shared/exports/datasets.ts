/**
 * The eight datasets of an export, with their columns, filters and flags. SQL, CSV headers, JSON Schema, OpenAPI, `GET
 * /export/datasets` and `admin import` are derived from this list.
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
import { column, type ExportColumn, nullableColumn } from "./column.ts";

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

/** The kinds of hidden rows that an export includes (docs/contract.md, Exports). */
export interface ExportVisibility {
  includeDeleted: boolean;
  includeArchived: boolean;
  includeSuperseded: boolean;
  includeResolved: boolean;
}

/** The query parameters that include or exclude rows, with their defaults. */
export const FLAG_DEFAULTS = {
  include_deleted: false,
  include_archived: false,
  include_superseded: false,
  include_resolved: true,
};
export type VisibilityFlag = keyof typeof FLAG_DEFAULTS;

/** Returns the visibility for the flags of a request. */
export function toVisibility(options: Readonly<Partial<Record<VisibilityFlag, boolean>>>): ExportVisibility {
  const flags = { ...FLAG_DEFAULTS, ...options };
  return {
    includeDeleted: flags.include_deleted,
    includeArchived: flags.include_archived,
    includeSuperseded: flags.include_superseded,
    includeResolved: flags.include_resolved,
  };
}

/** Returns only the visibility flags of a row. */
export function visibilityOf(row: ExportVisibility): ExportVisibility {
  const { includeDeleted, includeArchived, includeSuperseded, includeResolved } = row;
  return { includeDeleted, includeArchived, includeSuperseded, includeResolved };
}

/** A repeatable query parameter that selects rows whose column has one of the values. */
export interface ExportFilter {
  name: string;
  column: string;
  type: "uuid" | "text";
  /** The allowed values. Other values are rejected. */
  values?: readonly string[];
}

/** The empty filters of a bundle. */
export const NO_FILTERS: Readonly<Record<string, readonly string[]>> = {};

export interface ExportDataset {
  name: ExportDatasetName;
  table: string;
  /** The column that `as_of` is compared with. Rows are sorted by this column, then by id. */
  timeColumn: "created_at" | "changed_at";
  columns: readonly ExportColumn[];
  filters: readonly ExportFilter[];
  flags: readonly VisibilityFlag[];
  /** The parents of the rows: an issue, a run, or both. Rows of a hidden parent are also hidden. */
  parents: readonly (keyof typeof PARENT_KEYS)[];
}

/** The columns that reference the parent of a row. */
export const PARENT_KEYS = { issues: "issue_id", runs: "run_id" } as const;

const ISSUE_FLAGS = ["include_deleted", "include_resolved"] as const;
const PARENT_ISSUE = column.uuid("issue_id", "The issue it belongs to (issues.id)");
const PARENT_RUN = column.uuid("run_id", "The run it belongs to (runs.id)");
const CREATED_AT = column.timestamp("created_at", "When the row was inserted; compared with as_of");
const UPDATED_AT = column.timestamp("updated_at", "When the row was last changed");

/** All datasets by name, in the order of a bundle. */
export const EXPORT_DATASETS: Readonly<Record<ExportDatasetName, ExportDataset>> = {
  issues: {
    name: "issues",
    table: "issues",
    timeColumn: "created_at",
    columns: [
      column.uuid("id", "Id of the issue, referenced by issueId of other datasets"),
      column.uuid("project_id", "The project"),
      column.text(
        "fingerprint",
        "SHA-256 that identifies the finding, 64 hex digits, unique in the project",
        64,
      ),
      nullableColumn.text(
        "semantic_fingerprint",
        "Fingerprint of the meaning, shared by equivalent findings",
      ),
      nullableColumn.uuid("author_id", "The user who recorded it"),
      column.text("title", "The finding, in one line", 500),
      column.word("status", ISSUE_STATUSES, "Current status"),
      column.word("priority", ISSUE_PRIORITIES, "Priority"),
      nullableColumn.word("severity", SEVERITIES, "Severity"),
      nullableColumn.text("failure_code", "Code of the failure in the agent's taxonomy"),
      nullableColumn.word("failure_domain", FAILURE_DOMAINS, "Structural, semantic, pragmatic or epistemic"),
      nullableColumn.text("failure_mode", "Failure mode"),
      nullableColumn.word(
        "failure_severity_code",
        FAILURE_SEVERITY_CODES,
        "Severity letter of the failure taxonomy",
      ),
      nullableColumn.text("category", "Category the agent filed it under", 100),
      nullableColumn.text("agent", "Name of the agent that found it", 100),
      nullableColumn.text("type", "Kind of issue, an open list", 50),
      nullableColumn.text("file_path", "File it was found in", 1000),
      nullableColumn.integer("line_number", "Line it was found at"),
      column.integer("times_seen", "Number of runs that found it"),
      column.uuid("first_seen_run_id", "The run that found it first; informational"),
      column.uuid("last_seen_run_id", "The run that found it last; informational"),
      nullableColumn.timestamp("resolved_at", "When it was resolved"),
      nullableColumn.uuid("merged_into_issue_id", "The issue it was merged into; informational"),
      nullableColumn.timestamp("deleted_at", "When it was soft-deleted"),
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
  },
  "issue-notes": {
    name: "issue-notes",
    table: "issue_notes",
    timeColumn: "created_at",
    columns: [
      column.uuid("id", "Id of the note"),
      PARENT_ISSUE,
      column.text("content", "The note's text", 10_000),
      column.word("note_type", NOTE_TYPES, "Kind of note"),
      nullableColumn.text("created_by", "Who wrote it"),
      CREATED_AT,
    ],
    filters: [
      { name: "issue_id", column: "issue_id", type: "uuid" },
      { name: "note_type", column: "note_type", type: "text", values: NOTE_TYPES },
    ],
    flags: ISSUE_FLAGS,
    parents: ["issues"],
  },
  "status-history": {
    name: "status-history",
    table: "status_history",
    timeColumn: "changed_at",
    columns: [
      column.uuid("id", "Id of the change"),
      PARENT_ISSUE,
      nullableColumn.text("old_status", "Previous status; null for the first"),
      column.text("new_status", "New status"),
      nullableColumn.text("reason", "Why it changed", 1000),
      column.timestamp("changed_at", "When the status changed; compared with as_of"),
      nullableColumn.word("transition_type", TRANSITION_TYPES, "A change or an undo"),
      nullableColumn.uuid("reverted_change_id", "The change that this one reverts; informational"),
      nullableColumn.uuid("run_id", "The run that caused it; informational"),
      nullableColumn.text("source", "What caused it"),
      nullableColumn.bigInteger("seq", "Insertion order"),
    ],
    filters: [
      { name: "issue_id", column: "issue_id", type: "uuid" },
      { name: "new_status", column: "new_status", type: "text", values: ISSUE_STATUSES },
    ],
    flags: ISSUE_FLAGS,
    parents: ["issues"],
  },
  occurrences: {
    name: "occurrences",
    table: "occurrences",
    timeColumn: "created_at",
    columns: [
      column.uuid("id", "Id of the occurrence"),
      PARENT_ISSUE,
      PARENT_RUN,
      column.text("agent_name", "Name of the agent that saw it", 100),
      nullableColumn.text("description", "The agent's description in this run", 10_000),
      nullableColumn.text("file_path", "File it was seen in"),
      nullableColumn.integer("line_number", "Line it was seen at"),
      nullableColumn.word(
        "classification_confidence",
        CLASSIFICATION_CONFIDENCES,
        "Confidence of the classification",
      ),
      nullableColumn.word("classified_by", CLASSIFIERS, "Who classified it"),
      nullableColumn.word(
        "correlation_status",
        CORRELATION_STATUSES,
        "Whether the finding is new, recurring or a regression",
      ),
      nullableColumn.text(
        "convergence_cluster_id",
        "Shared by findings of several agents at the same place in a run",
        64,
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
  },
  runs: {
    name: "runs",
    table: "runs",
    timeColumn: "created_at",
    columns: [
      column.uuid("id", "Id of the run, referenced by runId of other datasets"),
      column.uuid("project_id", "The project"),
      nullableColumn.uuid("author_id", "The user who ran it"),
      column.integer("run_number", "Number of the run in its project, from 1"),
      column.text("workflow_type", "Kind of workflow that ran", 100),
      column.timestamp("timestamp", "When the client says it ran"),
      nullableColumn.boolean("all_gates_passed", "Whether every gate passed"),
      nullableColumn.number("average_score", "Mean score of its agents, 0 to 100"),
      nullableColumn.text("raw_markdown", "The report", 500_000),
      nullableColumn.timestamp("archived_at", "When it was archived"),
      nullableColumn.text("archive_reason", "Why it was archived", 500),
      nullableColumn.text("idempotency_key", "Key under which the client sent it", 100),
      nullableColumn.text("payload_hash", "Hash of what the client sent"),
      nullableColumn.word("definition_type", DEFINITION_TYPES, "Type of the definition that ran"),
      nullableColumn.text("definition_name", "Name of the definition that ran", 100),
      nullableColumn.text("definition_version", "Version of the definition that ran", 50),
      nullableColumn.text("definition_hash", "Hash of the definition that ran"),
      nullableColumn.uuid("definition_id", "Id of the definition that ran"),
      nullableColumn.integer("new_issues_count", "Issues it found for the first time"),
      nullableColumn.integer("recurring_issues_count", "Issues it found again"),
      nullableColumn.integer("regressions_count", "Issues that came back after being resolved"),
      nullableColumn.integer("observed_count", "Facts it observed"),
      CREATED_AT,
      UPDATED_AT,
    ],
    filters: [{ name: "workflow_type", column: "workflow_type", type: "text" }],
    flags: ["include_archived"],
    parents: [],
  },
  "agent-snapshots": {
    name: "agent-snapshots",
    table: "agent_snapshots",
    timeColumn: "created_at",
    columns: [
      column.uuid("id", "Id of the snapshot"),
      PARENT_RUN,
      column.text("name", "Name of the agent", 100),
      nullableColumn.text("definition_version", "Version of its definition"),
      nullableColumn.uuid("registry_definition_id", "Its definition in the registry"),
      nullableColumn.number("score", "Score it gave, 0 to 100"),
      nullableColumn.number("max_score", "Highest score it could give"),
      column.text("decision", "Its decision, an open list: PASS, WARN, FAIL, SHIP …", 50),
      nullableColumn.text("summary", "Short summary by the agent", 2000),
      nullableColumn.text("model", "Model it ran on", 50),
      nullableColumn.text("model_raw", "Model as the harness reported it"),
      nullableColumn.text("harness", "Program that ran it", 32),
      nullableColumn.bigInteger("input_tokens", "Tokens read"),
      nullableColumn.bigInteger("output_tokens", "Tokens written"),
      nullableColumn.bigInteger("cache_creation_tokens", "Tokens written to the prompt cache"),
      nullableColumn.bigInteger("cache_read_tokens", "Tokens read from the prompt cache"),
      nullableColumn.bigInteger("cached_input_tokens", "Input tokens that were cached"),
      nullableColumn.bigInteger("reasoning_output_tokens", "Output tokens spent on reasoning"),
      nullableColumn.bigInteger("thinking_tokens", "Tokens spent on thinking"),
      nullableColumn.bigInteger("tool_tokens", "Tokens spent on tools"),
      nullableColumn.bigInteger("total_effective_tokens", "Tokens that count, all together"),
      nullableColumn.bigInteger("duration_ms", "How long it ran, in milliseconds"),
      nullableColumn.text("agent_id", "The harness's id of the agent", 50),
      CREATED_AT,
      UPDATED_AT,
    ],
    filters: [
      { name: "run_id", column: "run_id", type: "uuid" },
      { name: "agent", column: "name", type: "text" },
    ],
    flags: ["include_archived"],
    parents: ["runs"],
  },
  "analysis-summaries": {
    name: "analysis-summaries",
    table: "analysis_summaries",
    timeColumn: "created_at",
    columns: [
      column.uuid("id", "Id of the summary"),
      PARENT_RUN,
      column.text("agent_name", "Name of the agent"),
      column.word("agent_type", AGENT_TYPES, "Type of the agent"),
      nullableColumn.text("agent_type_source", "Source of the agent type"),
      column.text("decision", "Its decision, an open list", 50),
      nullableColumn.number("score", "Score it gave"),
      nullableColumn.text("decision_vocabulary", "Vocabulary of its decisions"),
      nullableColumn.json("system_metrics", "Measurements of the run"),
      nullableColumn.json("category_scores", "Score per category"),
      nullableColumn.json("epistemic_assessment", "How far its findings can be trusted"),
      nullableColumn.json("audit_implications", "What its findings mean for an audit"),
      nullableColumn.json("exploration_maps", "What an explorer mapped"),
      nullableColumn.timestamp("superseded_at", "When a later summary replaced it"),
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
  },
  "analysis-records": {
    name: "analysis-records",
    table: "analysis_records",
    timeColumn: "created_at",
    columns: [
      column.uuid("id", "Id of the record"),
      PARENT_RUN,
      column.text("agent_name", "Name of the agent"),
      column.word("agent_type", AGENT_TYPES, "Type of the agent"),
      column.text("record_type", "Kind of record, an open list", 50),
      column.text("record_id", "The agent's own id of the record", 100),
      column.text("title", "Title, in one line", 500),
      nullableColumn.text("classification", "The agent's classification", 50),
      nullableColumn.text("severity", "Severity, in the agent's words"),
      column.json("record_data", "Content of the record; may be JSON null"),
      nullableColumn.timestamp("superseded_at", "When a later record replaced it"),
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
  },
};

export function findExportDataset(name: string): ExportDataset | null {
  return (EXPORT_DATASET_NAMES as readonly string[]).includes(name)
    ? EXPORT_DATASETS[name as ExportDatasetName]
    : null;
}
