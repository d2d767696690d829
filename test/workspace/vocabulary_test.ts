/** Closed lists in `shared/vocabulary.ts` equal those in the database's CHECK constraints. */
import { expect, test } from "bun:test";
import {
  AGENT_TYPES,
  AUDIT_ACTOR_TYPES,
  AUTHORSHIP_TYPES,
  BUILD_FAULTS,
  CATALOG_SYNC_OUTCOMES,
  CHANGE_TYPES,
  CLASSIFICATION_CONFIDENCES,
  CLASSIFIERS,
  CORRELATION_STATUSES,
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_STATUSES,
  DEFINITION_TIERS,
  DEFINITION_TYPES,
  DEFINITION_VISIBILITIES,
  EVENT_TYPES,
  EXPORT_FORMATS,
  EXPORT_JOB_ERROR_CODES,
  EXPORT_JOB_STATUSES,
  FAILURE_DOMAINS,
  FAILURE_SEVERITY_CODES,
  ISSUE_PRIORITIES,
  ISSUE_STATUSES,
  KEY_KINDS,
  KEY_SCOPES,
  MODEL_ALIAS_ORIGINS,
  MODEL_ALIAS_SCOPES,
  MODEL_STATUSES,
  MODEL_TIER_SOURCES,
  MODEL_TIERS,
  NOTE_TYPES,
  ORG_ROLES,
  PLATFORM_ROLES,
  SEVERITIES,
  SUBSCRIPTION_TIERS,
  TRACKER_CHANGE_KINDS,
  TRANSITION_TYPES,
  WEBHOOK_DELIVERY_STATUSES,
} from "../../shared/vocabulary.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";

const LISTS: Readonly<Record<string, readonly string[]>> = {
  account_mails_details_check: ["object"],
  analysis_records_agent_type_check: AGENT_TYPES,
  analysis_summaries_agent_type_check: AGENT_TYPES,
  api_keys_kind_check: KEY_KINDS,
  api_keys_scope_check: KEY_SCOPES,
  audit_log_actor_type_check: AUDIT_ACTOR_TYPES,
  catalog_syncs_outcome_check: CATALOG_SYNC_OUTCOMES,
  definition_forks_source_type_check: DEFINITION_TYPES,
  definition_lines_type_check: DEFINITION_TYPES,
  definition_references_type_check: DEFINITION_TYPES,
  definitions_agent_type_check: DEFINITION_AGENT_TYPES,
  definitions_authorship_type_check: AUTHORSHIP_TYPES,
  definitions_change_type_check: CHANGE_TYPES,
  definitions_domain_check: DEFINITION_DOMAINS,
  definitions_status_check: DEFINITION_STATUSES,
  definitions_tier_check: DEFINITION_TIERS,
  definitions_visibility_check: DEFINITION_VISIBILITIES,
  events_type_check: EVENT_TYPES,
  export_jobs_error_code_check: EXPORT_JOB_ERROR_CODES,
  export_jobs_format_check: EXPORT_FORMATS,
  export_jobs_status_check: EXPORT_JOB_STATUSES,
  export_jobs_waiting_for_check: BUILD_FAULTS,
  issue_notes_note_type_check: NOTE_TYPES,
  issues_failure_domain_check: FAILURE_DOMAINS,
  issues_failure_severity_code_check: FAILURE_SEVERITY_CODES,
  issues_priority_check: ISSUE_PRIORITIES,
  issues_severity_check: SEVERITIES,
  issues_status_check: ISSUE_STATUSES,
  model_aliases_origin_check: MODEL_ALIAS_ORIGINS,
  model_aliases_scope_check: MODEL_ALIAS_SCOPES,
  catalog_syncs_decision_check: ["accepted", "rejected"],
  models_status_check: MODEL_STATUSES,
  models_tier_check: MODEL_TIERS,
  models_tier_source_check: MODEL_TIER_SOURCES,
  occurrences_classification_confidence_check: CLASSIFICATION_CONFIDENCES,
  occurrences_classified_by_check: CLASSIFIERS,
  occurrences_correlation_status_check: CORRELATION_STATUSES,
  organization_invitations_role_check: ORG_ROLES,
  organization_members_role_check: ORG_ROLES,
  organizations_subscription_tier_check: SUBSCRIPTION_TIERS,
  runs_definition_type_check: DEFINITION_TYPES,
  status_history_transition_type_check: TRANSITION_TYPES,
  tracker_changes_kind_check: TRACKER_CHANGE_KINDS,
  users_platform_role_check: PLATFORM_ROLES,
  webhook_deliveries_status_check: WEBHOOK_DELIVERY_STATUSES,
};

function sortedEntries(lists: Iterable<readonly [string, readonly string[]]>): [string, string[]][] {
  return [...lists]
    .map(([name, values]): [string, string[]] => [name, values.toSorted()])
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

test("every list of values in a CHECK constraint matches the list in the code", async () => {
  await using db = await openTestDatabase();
  const rows = await db.sql<{ name: string; definition: string }[]>`
    select conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'c' and connamespace = 'public'::regnamespace`;
  const inDatabase = rows
    .filter(({ definition }) => /= ANY \(ARRAY\[| = '/.test(definition))
    .map(({ name, definition }): [string, string[]] => [
      name,
      [...definition.matchAll(/'((?:[^']|'')*)'::text/g)].map((match) => match[1] ?? ""),
    ]);
  expect(sortedEntries(inDatabase)).toEqual(sortedEntries(Object.entries(LISTS)));
});
