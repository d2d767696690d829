-- Generated from the migrations by `bun run schema`; a test fails when it is stale.

create sequence status_history_seq_seq as bigint;

create table account_mails (
  id uuid not null default gen_random_uuid(),
  kind text not null,
  email text not null,
  user_id uuid,
  org_id uuid,
  details jsonb not null default '{}'::jsonb,
  network text,
  created_at timestamp(3) with time zone not null default clock_timestamp(),
  is_over_limit boolean not null default false,
  token_hash bytea,
  sent_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone not null default (clock_timestamp() + '1 day'::interval),
  used_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  due_at timestamp(3) with time zone,
  skipped_at timestamp(3) with time zone,
  constraint account_mails_pkey PRIMARY KEY (id),
  constraint account_mails_token_hash_key UNIQUE (token_hash),
  constraint account_mails_details_check CHECK ((jsonb_typeof(details) = 'object'::text)),
  constraint account_mails_email_check CHECK (((email ~~ '_%@_%'::text) AND (char_length(email) <= 320))),
  constraint account_mails_kind_check CHECK ((kind ~ '^[a-z_]{1,50}$'::text)),
  constraint account_mails_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint account_mails_used_check CHECK (((used_at IS NULL) OR (token_hash IS NOT NULL)))
);

create table agent_snapshots (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  run_id uuid not null,
  name text not null,
  definition_version text,
  registry_definition_id uuid,
  score double precision,
  max_score double precision,
  decision text not null,
  summary text,
  model text,
  model_raw text,
  harness text,
  input_tokens bigint,
  output_tokens bigint,
  cache_creation_tokens bigint,
  cache_read_tokens bigint,
  cached_input_tokens bigint,
  reasoning_output_tokens bigint,
  thinking_tokens bigint,
  tool_tokens bigint,
  total_effective_tokens bigint,
  duration_ms bigint,
  agent_id text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint agent_snapshots_pkey PRIMARY KEY (project_id, id),
  constraint agent_snapshots_agent_id_check CHECK ((char_length(agent_id) <= 50)),
  constraint agent_snapshots_cache_creation_tokens_check CHECK ((cache_creation_tokens >= 0)),
  constraint agent_snapshots_cache_read_tokens_check CHECK ((cache_read_tokens >= 0)),
  constraint agent_snapshots_cached_input_tokens_check CHECK ((cached_input_tokens >= 0)),
  constraint agent_snapshots_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint agent_snapshots_decision_check CHECK ((char_length(decision) <= 50)),
  constraint agent_snapshots_harness_check CHECK ((char_length(harness) <= 32)),
  constraint agent_snapshots_input_tokens_check CHECK ((input_tokens >= 0)),
  constraint agent_snapshots_max_score_check CHECK (((max_score > '-Infinity'::double precision) AND (max_score < 'Infinity'::double precision))),
  constraint agent_snapshots_model_check CHECK ((char_length(model) <= 50)),
  constraint agent_snapshots_name_check CHECK ((char_length(name) <= 100)),
  constraint agent_snapshots_output_tokens_check CHECK ((output_tokens >= 0)),
  constraint agent_snapshots_reasoning_output_tokens_check CHECK ((reasoning_output_tokens >= 0)),
  constraint agent_snapshots_score_check CHECK (((score >= (0)::double precision) AND (score <= (100)::double precision))),
  constraint agent_snapshots_summary_check CHECK ((char_length(summary) <= 2000)),
  constraint agent_snapshots_thinking_tokens_check CHECK ((thinking_tokens >= 0)),
  constraint agent_snapshots_tool_tokens_check CHECK ((tool_tokens >= 0)),
  constraint agent_snapshots_total_effective_tokens_check CHECK ((total_effective_tokens >= 0)),
  constraint agent_snapshots_updated_at_check CHECK (((updated_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (updated_at < '10000-01-01 00:00:00+00'::timestamp with time zone)))
);

create table analysis_records (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  run_id uuid not null,
  agent_name text not null,
  agent_type text not null,
  record_type text not null,
  record_id text not null,
  title text not null,
  classification text,
  severity text,
  record_data jsonb not null,
  superseded_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  constraint analysis_records_pkey PRIMARY KEY (project_id, id),
  constraint analysis_records_agent_type_check CHECK ((agent_type = ANY (ARRAY['validator'::text, 'analyst'::text, 'explorer'::text, 'forecaster'::text, 'executor'::text, 'generator'::text, 'unknown'::text]))),
  constraint analysis_records_classification_check CHECK ((char_length(classification) <= 50)),
  constraint analysis_records_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint analysis_records_record_id_check CHECK ((char_length(record_id) <= 100)),
  constraint analysis_records_record_type_check CHECK ((char_length(record_type) <= 50)),
  constraint analysis_records_superseded_at_check CHECK (((superseded_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (superseded_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint analysis_records_title_check CHECK ((char_length(title) <= 500))
);

create table analysis_summaries (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  run_id uuid not null,
  agent_name text not null,
  agent_type text not null,
  agent_type_source text,
  decision text not null,
  score double precision,
  decision_vocabulary text,
  system_metrics jsonb,
  category_scores jsonb,
  epistemic_assessment jsonb,
  audit_implications jsonb,
  exploration_maps jsonb,
  superseded_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  constraint analysis_summaries_pkey PRIMARY KEY (project_id, id),
  constraint analysis_summaries_agent_type_check CHECK ((agent_type = ANY (ARRAY['validator'::text, 'analyst'::text, 'explorer'::text, 'forecaster'::text, 'executor'::text, 'generator'::text, 'unknown'::text]))),
  constraint analysis_summaries_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint analysis_summaries_decision_check CHECK ((char_length(decision) <= 50)),
  constraint analysis_summaries_score_check CHECK (((score > '-Infinity'::double precision) AND (score < 'Infinity'::double precision))),
  constraint analysis_summaries_superseded_at_check CHECK (((superseded_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (superseded_at < '10000-01-01 00:00:00+00'::timestamp with time zone)))
);

create table api_keys (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  org_id uuid,
  kind text not null default 'user'::text,
  scope text not null default 'write'::text,
  name text,
  prefix text not null,
  key_hash bytea not null,
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_key_hash_key UNIQUE (key_hash),
  constraint api_keys_key_hash_check CHECK ((octet_length(key_hash) = 32)),
  constraint api_keys_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'automation'::text, 'system'::text]))),
  constraint api_keys_scope_check CHECK ((scope = ANY (ARRAY['read'::text, 'write'::text])))
);

create table audit_chain (
  is_only boolean not null default true,
  deleted_position bigint not null default 0,
  deleted_hash bytea not null default sha256('\x'::bytea),
  sealed_position bigint not null default 0,
  sealed_hash bytea not null default sha256('\x'::bytea),
  constraint audit_chain_pkey PRIMARY KEY (is_only),
  constraint audit_chain_is_only_check CHECK (is_only)
);

create table audit_log (
  id bigint not null generated always as identity,
  occurred_at timestamp(3) with time zone not null default now(),
  actor_type text not null,
  actor_user_id uuid,
  credential_id uuid,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  org_id uuid,
  request_id text,
  details jsonb not null default '{}'::jsonb,
  address text,
  user_agent text,
  client_request_id text,
  "position" bigint,
  previous_hash bytea,
  hash bytea,
  constraint audit_log_pkey PRIMARY KEY (id),
  constraint audit_log_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'operator'::text, 'service'::text, 'anonymous'::text])))
);

create table catalog_syncs (
  id bigint not null generated always as identity,
  started_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone not null,
  source text not null,
  etag text,
  data_date date,
  outcome text not null,
  inserted integer not null default 0,
  updated integer not null default 0,
  gone integer not null default 0,
  unchanged integer not null default 0,
  skipped integer not null default 0,
  notes text[] not null default '{}'::text[],
  error text,
  held integer not null default 0,
  doubts text[] not null default '{}'::text[],
  decision text,
  doubt_extents text[] not null default '{}'::text[],
  constraint catalog_syncs_pkey PRIMARY KEY (id),
  constraint catalog_syncs_counts_check CHECK ((LEAST(inserted, updated, gone, unchanged, skipped) >= 0)),
  constraint catalog_syncs_decision_check CHECK ((decision = ANY (ARRAY['accepted'::text, 'rejected'::text]))),
  constraint catalog_syncs_error_check CHECK ((((outcome <> 'refused'::text) AND (outcome <> 'failed'::text)) = (error IS NULL))),
  constraint catalog_syncs_finished_at_check CHECK ((finished_at >= started_at)),
  constraint catalog_syncs_outcome_check CHECK ((outcome = ANY (ARRAY['changed'::text, 'unchanged'::text, 'refused'::text, 'failed'::text])))
);

create table catalog_version (
  is_singleton boolean not null default true,
  number bigint not null,
  constraint catalog_version_pkey PRIMARY KEY (is_singleton),
  constraint catalog_version_is_singleton_check CHECK (is_singleton)
);

create table definition_execution_callers (
  line_id uuid not null,
  user_id uuid not null,
  constraint definition_execution_callers_pkey PRIMARY KEY (line_id, user_id)
);

create table definition_execution_hours (
  line_id uuid not null,
  hour timestamp(0) with time zone not null,
  definition_id uuid,
  source text not null,
  count bigint not null,
  constraint definition_execution_hours_key UNIQUE NULLS NOT DISTINCT (line_id, hour, definition_id, source),
  constraint definition_execution_hours_count_check CHECK ((count >= 0))
);

create table definition_executions (
  id uuid not null default gen_random_uuid(),
  line_id uuid not null,
  definition_id uuid,
  run_id text,
  source text not null,
  recorded_by uuid not null,
  recorded_at timestamp(3) with time zone not null default now(),
  constraint definition_executions_pkey PRIMARY KEY (id),
  constraint definition_executions_line_id_run_id_key UNIQUE (line_id, run_id)
);

create table definition_forks (
  id uuid not null default gen_random_uuid(),
  line_id uuid not null,
  definition_id uuid not null,
  source_line_id uuid,
  source_definition_id uuid not null,
  source_org_id uuid not null,
  source_type text not null,
  source_name text not null,
  source_version text not null,
  forked_by uuid not null,
  forked_at timestamp(3) with time zone not null default now(),
  constraint definition_forks_pkey PRIMARY KEY (id),
  constraint definition_forks_line_id_key UNIQUE (line_id),
  constraint definition_forks_source_type_check CHECK ((source_type = ANY (ARRAY['agent'::text, 'command'::text, 'workflow'::text, 'pipeline'::text])))
);

create table definition_lines (
  id uuid not null default gen_random_uuid(),
  org_id uuid not null,
  type text not null,
  name text not null,
  first_published_at timestamp(3) with time zone,
  forked_from_id uuid,
  execution_count bigint not null default 0,
  unique_execution_count bigint not null default 0,
  fork_count bigint not null default 0,
  star_count bigint not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  quarantined_at timestamp(3) with time zone,
  quarantine_reason text,
  yaml_bytes bigint not null default 0,
  constraint definition_lines_pkey PRIMARY KEY (id),
  constraint definition_lines_id_org_id_type_name_key UNIQUE (id, org_id, type, name),
  constraint definition_lines_org_id_type_name_key UNIQUE (org_id, type, name),
  constraint definition_lines_counts_check CHECK (((LEAST(execution_count, unique_execution_count, fork_count, star_count) >= 0) AND (unique_execution_count <= execution_count))),
  constraint definition_lines_name_check CHECK (((name ~ '^[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?$'::text) AND (name !~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'::text))),
  constraint definition_lines_quarantine_check CHECK (((quarantined_at IS NULL) = (quarantine_reason IS NULL))),
  constraint definition_lines_type_check CHECK ((type = ANY (ARRAY['agent'::text, 'command'::text, 'workflow'::text, 'pipeline'::text])))
);

create table definition_listings (
  definition_id uuid not null,
  line_id uuid not null,
  org_id uuid not null,
  author_id uuid not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  is_public boolean not null,
  is_latest boolean not null default false,
  is_latest_of_status boolean not null default false,
  is_public_latest boolean not null,
  is_public_latest_of_status boolean not null default false,
  is_fork boolean not null,
  type text not null,
  name text collate "C" not null,
  status text not null,
  visibility text not null,
  tier text not null,
  domain text not null,
  agent_type text,
  authorship_type text,
  tags text[] not null,
  words tsvector not null,
  is_first boolean not null default false,
  constraint definition_listings_pkey PRIMARY KEY (definition_id, is_public_latest)
) partition by LIST (is_public_latest);
create table definition_listings_latest partition of definition_listings FOR VALUES IN (true);
create table definition_listings_other partition of definition_listings FOR VALUES IN (false);

create table definition_references (
  definition_id uuid not null,
  "position" integer not null,
  type text not null,
  name text not null,
  range text not null,
  context text not null,
  in_tree boolean not null,
  org_slug text,
  target_org_id uuid,
  for_members boolean not null default false,
  constraint definition_references_pkey PRIMARY KEY (definition_id, "position"),
  constraint definition_references_type_check CHECK ((type = ANY (ARRAY['agent'::text, 'command'::text, 'workflow'::text, 'pipeline'::text])))
);

create table definitions (
  id uuid not null default gen_random_uuid(),
  line_id uuid not null,
  org_id uuid not null,
  type text not null,
  name text not null,
  version text not null,
  version_major bigint not null generated always as ((split_part(version, '.'::text, 1))::bigint) stored,
  version_minor bigint not null generated always as ((split_part(version, '.'::text, 2))::bigint) stored,
  version_patch bigint not null generated always as ((split_part(version, '.'::text, 3))::bigint) stored,
  status text not null default 'draft'::text,
  visibility text not null default 'private'::text,
  tier text not null default 'user'::text,
  yaml text not null,
  hash text not null,
  display_name text not null,
  description text not null default ''::text,
  domain text not null default 'general'::text,
  subdomain text,
  agent_type text,
  author text,
  author_id uuid not null,
  provenance jsonb,
  authorship_type text generated always as ((provenance ->> 'authorshipType'::text)) stored,
  tags text[] not null default '{}'::text[],
  change_summary text,
  change_type text not null,
  runtime_md text,
  prompt_hash text,
  translator_version text,
  translation_error jsonb,
  risk_profile jsonb,
  deprecation_reason text,
  successor text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  published_at timestamp(3) with time zone,
  deprecated_at timestamp(3) with time zone,
  archived_at timestamp(3) with time zone,
  quarantined_at timestamp(3) with time zone,
  quarantine_reason text,
  json_hash text,
  constraint definitions_pkey PRIMARY KEY (id),
  constraint definitions_line_id_version_key UNIQUE (line_id, version_major, version_minor, version_patch),
  constraint definitions_agent_type_check CHECK ((agent_type = ANY (ARRAY['validator'::text, 'executor'::text, 'analyst'::text, 'generator'::text, 'explorer'::text, 'forecaster'::text]))),
  constraint definitions_archived_at_check CHECK (((status <> 'archived'::text) = (archived_at IS NULL))),
  constraint definitions_authorship_type_check CHECK ((authorship_type = ANY (ARRAY['human'::text, 'agent'::text, 'collaborative'::text, 'automated'::text]))),
  constraint definitions_change_type_check CHECK ((change_type = ANY (ARRAY['major'::text, 'minor'::text, 'patch'::text]))),
  constraint definitions_deprecated_at_check CHECK (((((status <> 'draft'::text) AND (status <> 'published'::text)) = (deprecated_at IS NOT NULL)) AND ((deprecated_at IS NULL) = (deprecation_reason IS NULL)) AND ((deprecated_at IS NOT NULL) OR (successor IS NULL)))),
  constraint definitions_domain_check CHECK ((domain = ANY (ARRAY['software'::text, 'security'::text, 'compliance'::text, 'legal'::text, 'medical'::text, 'financial'::text, 'scientific'::text, 'content'::text, 'general'::text, 'career'::text, 'business'::text, 'education'::text, 'documentation'::text, 'cognitive-lens'::text]))),
  constraint definitions_hash_check CHECK (((hash ~ '^sha256:[0-9a-f]{64}$'::text) AND (prompt_hash ~ '^sha256:[0-9a-f]{64}$'::text))),
  constraint definitions_published_at_check CHECK (((status <> 'draft'::text) = (published_at IS NOT NULL))),
  constraint definitions_quarantine_check CHECK (((quarantined_at IS NULL) = (quarantine_reason IS NULL))),
  constraint definitions_runtime_check CHECK ((((num_nulls(runtime_md, prompt_hash, translator_version) % 3) = 0) AND ((runtime_md IS NULL) OR (translation_error IS NULL)))),
  constraint definitions_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'deprecated'::text, 'archived'::text]))),
  constraint definitions_tier_check CHECK ((tier = ANY (ARRAY['user'::text, 'org'::text, 'pro'::text]))),
  constraint definitions_version_check CHECK (((version ~ '^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$'::text) AND (char_length(version) <= 20))),
  constraint definitions_visibility_check CHECK ((visibility = ANY (ARRAY['private'::text, 'unlisted'::text, 'public'::text]))),
  constraint definitions_yaml_check CHECK ((octet_length(yaml) <= 153600))
);

create table event_log (
  is_only boolean not null default true,
  deleted_position bigint not null default 0,
  settled_position bigint not null default 0,
  cursor_key bytea not null default substr(sha256(((gen_random_uuid())::text)::bytea), 1, 16),
  constraint event_log_pkey PRIMARY KEY (is_only),
  constraint event_log_cursor_key_check CHECK ((octet_length(cursor_key) = 16)),
  constraint event_log_is_only_check CHECK (is_only)
);

create table events (
  id uuid not null default gen_random_uuid(),
  number bigint not null generated always as identity,
  "position" bigint,
  type text not null,
  created_at timestamp(3) with time zone not null default now(),
  org_id uuid,
  definition_id uuid,
  is_public boolean not null,
  data jsonb not null,
  constraint events_pkey PRIMARY KEY (id),
  constraint events_number_key UNIQUE (number),
  constraint events_type_check CHECK ((type = ANY (ARRAY['export.ready'::text, 'export.failed'::text, 'definition.published'::text, 'definition.deprecated'::text, 'definition.archived'::text, 'model.added'::text, 'model.gone'::text, 'model.price_changed'::text])))
);

create table export_jobs (
  id uuid not null default gen_random_uuid(),
  number integer not null,
  org_id uuid not null,
  requested_by uuid not null,
  status text not null default 'queued'::text,
  format text not null,
  as_of timestamp(3) with time zone not null,
  since timestamp(3) with time zone,
  include_deleted boolean not null,
  include_archived boolean not null,
  include_superseded boolean not null,
  include_resolved boolean not null,
  attempt integer not null default 0,
  projects_done integer not null default 0,
  projects_total integer not null default 0,
  rows_written bigint not null default 0,
  bytes_written bigint not null default 0,
  artifact_key text,
  artifact_file_name text,
  artifact_bytes bigint,
  artifact_sha256 text,
  error_code text,
  error_message text,
  created_at timestamp(3) with time zone not null default now(),
  started_at timestamp(3) with time zone,
  ready_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  mailed_at timestamp(3) with time zone,
  waiting_for text,
  retry_at timestamp(3) with time zone,
  first_fault_at timestamp(3) with time zone,
  faults integer not null default 0,
  constraint export_jobs_pkey PRIMARY KEY (id),
  constraint export_jobs_org_id_number_key UNIQUE (org_id, number),
  constraint export_jobs_artifact_check CHECK ((((num_nulls(artifact_key, artifact_file_name, artifact_bytes, artifact_sha256, ready_at, expires_at) % 6) = 0) AND ((status <> 'ready'::text) OR (artifact_key IS NOT NULL)))),
  constraint export_jobs_artifact_sha256_check CHECK ((artifact_sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint export_jobs_error_code_check CHECK ((error_code = ANY (ARRAY['CANCELED'::text, 'BUILD_TIMEOUT'::text, 'BUILD_FAILED'::text, 'ARTIFACT_STORAGE_FAILED'::text, 'ORGANIZATION_GONE'::text]))),
  constraint export_jobs_failed_check CHECK ((((status <> 'failed'::text) = (error_code IS NULL)) AND ((error_code IS NULL) = (error_message IS NULL)))),
  constraint export_jobs_finished_at_check CHECK ((((status <> 'queued'::text) AND (status <> 'running'::text)) = (finished_at IS NOT NULL))),
  constraint export_jobs_format_check CHECK ((format = ANY (ARRAY['ndjson'::text, 'csv'::text, 'parquet'::text]))),
  constraint export_jobs_mailed_at_check CHECK (((mailed_at IS NULL) OR (ready_at IS NOT NULL))),
  constraint export_jobs_progress_check CHECK ((LEAST((attempt)::bigint, (projects_done)::bigint, (projects_total)::bigint, rows_written, bytes_written) >= 0)),
  constraint export_jobs_retry_at_check CHECK (((waiting_for IS NULL) = (retry_at IS NULL))),
  constraint export_jobs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'ready'::text, 'expired'::text, 'failed'::text]))),
  constraint export_jobs_waiting_for_check CHECK ((waiting_for = ANY (ARRAY['storage'::text, 'database'::text])))
);

create table factor_challenges (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  purpose text not null,
  session_id uuid,
  token_hash bytea,
  password_digest bytea,
  challenge_hash bytea,
  secret bytea,
  wrong_tries integer not null default 0,
  expires_at timestamp(3) with time zone not null,
  constraint factor_challenges_pkey PRIMARY KEY (id),
  constraint factor_challenges_session_id_purpose_key UNIQUE (session_id, purpose),
  constraint factor_challenges_token_hash_key UNIQUE (token_hash),
  constraint factor_challenges_purpose_check CHECK (
CASE purpose
    WHEN 'sign_in'::text THEN ((session_id IS NULL) AND (num_nonnulls(token_hash, password_digest) = 2))
    WHEN 'verify'::text THEN ((session_id IS NOT NULL) AND (challenge_hash IS NOT NULL))
    WHEN 'add_passkey'::text THEN ((session_id IS NOT NULL) AND (challenge_hash IS NOT NULL))
    WHEN 'add_totp'::text THEN ((session_id IS NOT NULL) AND (secret IS NOT NULL))
    ELSE false
END)
);

create table held_prices (
  provider text not null,
  model_id text not null,
  prices jsonb not null,
  tier text not null,
  tier_source text not null,
  first_seen_at timestamp(3) with time zone not null default now(),
  last_seen_at timestamp(3) with time zone not null default now(),
  times_seen integer not null default 1,
  rejected_at timestamp(3) with time zone,
  constraint held_prices_pkey PRIMARY KEY (provider, model_id)
);

create table idempotency_keys (
  caller text not null,
  key text not null,
  fingerprint bytea not null,
  request_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  locked_until timestamp(3) with time zone not null,
  applied_at timestamp(3) with time zone,
  subject_type text,
  subject_id text,
  status integer,
  headers jsonb,
  body text,
  org_id uuid,
  org_role text,
  constraint idempotency_keys_pkey PRIMARY KEY (caller, key),
  constraint idempotency_keys_applied_check CHECK (((num_nulls(applied_at, subject_type, subject_id) % 3) = 0)),
  constraint idempotency_keys_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
  constraint idempotency_keys_key_check CHECK ((key ~ '^[ -~]{1,128}$'::text)),
  constraint idempotency_keys_response_check CHECK (((num_nulls(status, headers, body) % 3) = 0))
);

create table installation (
  is_only boolean not null default true,
  id uuid not null default gen_random_uuid(),
  system_identifier bigint not null,
  database_oid bigint not null,
  is_copy boolean not null default false,
  created_at timestamp(3) with time zone not null default now(),
  constraint installation_is_only_pkey PRIMARY KEY (is_only),
  constraint installation_is_only_check CHECK (is_only)
);

create table issue_notes (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  issue_id uuid not null,
  content text not null,
  note_type text not null,
  created_by text,
  created_at timestamp(3) with time zone not null default now(),
  constraint issue_notes_pkey PRIMARY KEY (project_id, id),
  constraint issue_notes_content_check CHECK (((char_length(content) >= 1) AND (char_length(content) <= 10000))),
  constraint issue_notes_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint issue_notes_note_type_check CHECK ((note_type = ANY (ARRAY['context'::text, 'resolution'::text, 'blocker'::text])))
);

create table issues (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  fingerprint text not null,
  semantic_fingerprint text,
  author_id uuid,
  title text not null,
  status text not null,
  priority text not null,
  severity text,
  failure_code text,
  failure_domain text,
  failure_mode text,
  failure_severity_code text,
  category text,
  agent text,
  type text,
  file_path text,
  line_number integer,
  times_seen integer not null default 1,
  first_seen_run_id uuid not null,
  last_seen_run_id uuid not null,
  resolved_at timestamp(3) with time zone,
  merged_into_issue_id uuid,
  deleted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint issues_pkey PRIMARY KEY (project_id, id),
  constraint issues_project_id_fingerprint_key UNIQUE (project_id, fingerprint),
  constraint issues_agent_check CHECK ((char_length(agent) <= 100)),
  constraint issues_category_check CHECK ((char_length(category) <= 100)),
  constraint issues_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint issues_deleted_at_check CHECK (((deleted_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (deleted_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint issues_failure_domain_check CHECK ((failure_domain = ANY (ARRAY['STR'::text, 'SEM'::text, 'PRA'::text, 'EPI'::text]))),
  constraint issues_failure_severity_code_check CHECK ((failure_severity_code = ANY (ARRAY['C'::text, 'H'::text, 'M'::text, 'L'::text, 'I'::text]))),
  constraint issues_file_path_check CHECK ((char_length(file_path) <= 1000)),
  constraint issues_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
  constraint issues_priority_check CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'suggested'::text, 'backlog'::text]))),
  constraint issues_resolved_at_check CHECK (((resolved_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (resolved_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint issues_severity_check CHECK ((severity = ANY (ARRAY['critical'::text, 'high'::text, 'medium'::text, 'low'::text, 'info'::text]))),
  constraint issues_status_check CHECK ((status = ANY (ARRAY['open'::text, 'completed'::text, 'deferred'::text, 'wontfix'::text, 'merged'::text, 'false-positive'::text, 'observation'::text]))),
  constraint issues_times_seen_check CHECK ((times_seen >= 1)),
  constraint issues_title_check CHECK ((char_length(title) <= 500)),
  constraint issues_type_check CHECK ((char_length(type) <= 50)),
  constraint issues_updated_at_check CHECK (((updated_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (updated_at < '10000-01-01 00:00:00+00'::timestamp with time zone)))
);

create table job_runners (
  id uuid not null,
  seen_at timestamp(3) with time zone not null default now(),
  constraint job_runners_pkey PRIMARY KEY (id)
);

create table login_account_attempts (
  account_hash bytea not null,
  attempts integer not null,
  last_attempt_at timestamp(3) with time zone not null,
  constraint login_account_attempts_pkey PRIMARY KEY (account_hash),
  constraint login_account_attempts_account_hash_check CHECK ((octet_length(account_hash) = 32))
);

create table login_attempts (
  subject_hash bytea not null,
  attempted_at timestamp(3) with time zone[] not null,
  last_attempt_at timestamp(3) with time zone not null,
  constraint login_attempts_pkey PRIMARY KEY (subject_hash),
  constraint login_attempts_subject_hash_check CHECK ((octet_length(subject_hash) = 32))
);

create table login_waits (
  subject_hash bytea not null,
  waiting_since timestamp(3) with time zone not null,
  constraint login_waits_pkey PRIMARY KEY (subject_hash),
  constraint login_waits_subject_hash_check CHECK ((octet_length(subject_hash) = 32))
);

create table model_alias_targets (
  id bigint not null generated always as identity,
  alias text not null,
  provider text,
  model_id text,
  valid_from timestamp(3) with time zone not null,
  constraint model_alias_targets_pkey PRIMARY KEY (id),
  constraint model_alias_targets_target_check CHECK (((provider IS NULL) = (model_id IS NULL)))
);

create table model_aliases (
  alias text not null,
  origin text not null default 'manual'::text,
  provider text not null,
  model_id text not null,
  scope text not null default 'global'::text,
  deprecated boolean not null default false,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint model_aliases_pkey PRIMARY KEY (alias, origin),
  constraint model_aliases_alias_check CHECK ((alias <> ''::text)),
  constraint model_aliases_origin_check CHECK ((origin = ANY (ARRAY['generated'::text, 'manual'::text]))),
  constraint model_aliases_scope_check CHECK ((scope = 'global'::text))
);

create table model_price_changes (
  id bigint not null generated always as identity,
  provider text not null,
  model_id text not null,
  field text not null,
  old_value numeric,
  new_value numeric,
  changed_at timestamp(3) with time zone not null,
  sync_id bigint,
  constraint model_price_changes_pkey PRIMARY KEY (id),
  constraint model_price_changes_field_check CHECK ((field ~ '^(tiers\.[1-9][0-9]*\.)?(input|output|cacheRead|cacheWrite|reasoning|inputAudio|outputAudio)$'::text)),
  constraint model_price_changes_value_check CHECK ((old_value IS DISTINCT FROM new_value))
);

create table model_price_corrections (
  id bigint not null generated always as identity,
  provider text not null,
  model_id text not null,
  field text not null,
  value numeric,
  valid_from timestamp(3) with time zone not null,
  valid_to timestamp(3) with time zone not null,
  reason text not null,
  known_from timestamp(3) with time zone not null default now(),
  constraint model_price_corrections_pkey PRIMARY KEY (id),
  constraint model_price_corrections_field_check CHECK ((field ~ '^(tiers\.[1-9][0-9]*\.)?(input|output|cacheRead|cacheWrite|reasoning|inputAudio|outputAudio)$'::text)),
  constraint model_price_corrections_reason_check CHECK ((reason <> ''::text)),
  constraint model_price_corrections_valid_to_check CHECK ((valid_from < valid_to)),
  constraint model_price_corrections_value_check CHECK ((value >= (0)::numeric))
);

create table model_providers (
  id text not null,
  name text not null,
  doc_url text,
  api_url text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  removed_at timestamp(3) with time zone,
  constraint model_providers_pkey PRIMARY KEY (id),
  constraint model_providers_id_check CHECK ((id <> ''::text)),
  constraint model_providers_name_check CHECK ((name <> ''::text))
);

create table models (
  provider text not null,
  model_id text not null,
  name text not null,
  description text,
  family text,
  has_vision boolean not null,
  has_tools boolean not null,
  has_streaming boolean not null,
  has_reasoning boolean not null,
  has_structured_output boolean not null,
  has_attachment boolean not null,
  input_modalities text[] not null,
  output_modalities text[] not null,
  input_usd_per_mtok numeric,
  output_usd_per_mtok numeric,
  cache_read_usd_per_mtok numeric,
  cache_write_usd_per_mtok numeric,
  pricing jsonb,
  context_tokens integer,
  output_tokens integer,
  tier text not null,
  tier_source text not null,
  status text not null,
  release_date date,
  knowledge_cutoff date,
  is_open_weights boolean not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  removed_at timestamp(3) with time zone,
  capabilities_stated text[] not null default '{}'::text[],
  input_tokens integer,
  prices_known_since timestamp(3) with time zone not null default now(),
  stale_since timestamp(3) with time zone,
  constraint models_pkey PRIMARY KEY (provider, model_id),
  constraint models_cost_check CHECK ((((input_usd_per_mtok IS NOT NULL) OR (num_nonnulls(output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_usd_per_mtok, pricing) = 0)) AND (LEAST(input_usd_per_mtok, output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_usd_per_mtok) >= (0)::numeric))),
  constraint models_input_tokens_check CHECK ((input_tokens > 0)),
  constraint models_limits_check CHECK ((LEAST(context_tokens, output_tokens) > 0)),
  constraint models_model_id_check CHECK ((model_id <> ''::text)),
  constraint models_name_check CHECK ((name <> ''::text)),
  constraint models_pricing_check CHECK (((pricing @? '$?(@.type() == "object")'::jsonpath) AND (NOT (pricing @? '$.*?(@.type() != "number" || @ < 0)'::jsonpath)))),
  constraint models_removed_at_check CHECK ((NOT ((removed_at IS NOT NULL) AND (status <> 'deprecated'::text)))),
  constraint models_status_check CHECK ((status = ANY (ARRAY['available'::text, 'preview'::text, 'deprecated'::text]))),
  constraint models_tier_check CHECK ((tier = ANY (ARRAY['budget'::text, 'standard'::text, 'premium'::text, 'reasoning'::text]))),
  constraint models_tier_source_check CHECK ((tier_source = ANY (ARRAY['reasoner'::text, 'price'::text, 'peers'::text, 'free'::text, 'unpriced'::text])))
);

create table occurrences (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  issue_id uuid not null,
  run_id uuid not null,
  agent_name text not null,
  description text,
  file_path text,
  line_number integer,
  classification_confidence text,
  classified_by text,
  correlation_status text,
  convergence_cluster_id text,
  created_at timestamp(3) with time zone not null default now(),
  constraint occurrences_pkey PRIMARY KEY (project_id, id),
  constraint occurrences_agent_name_check CHECK ((char_length(agent_name) <= 100)),
  constraint occurrences_classification_confidence_check CHECK ((classification_confidence = ANY (ARRAY['high'::text, 'medium'::text, 'low'::text]))),
  constraint occurrences_classified_by_check CHECK ((classified_by = ANY (ARRAY['agent'::text, 'classifier'::text, 'human'::text]))),
  constraint occurrences_convergence_cluster_id_check CHECK ((char_length(convergence_cluster_id) <= 64)),
  constraint occurrences_correlation_status_check CHECK ((correlation_status = ANY (ARRAY['new'::text, 'recurring'::text, 'regression'::text, 'observed'::text]))),
  constraint occurrences_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint occurrences_description_check CHECK ((char_length(description) <= 10000))
);

create table organization_invitations (
  id uuid not null default gen_random_uuid(),
  org_id uuid not null,
  email text not null,
  role text not null,
  invited_by uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null default (now() + '7 days'::interval),
  accepted_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  constraint organization_invitations_pkey PRIMARY KEY (id),
  constraint organization_invitations_email_check CHECK (((email = lower(email)) AND (email ~~ '_%@_%'::text) AND (char_length(email) <= 320))),
  constraint organization_invitations_end_check CHECK (((accepted_at IS NULL) OR (revoked_at IS NULL))),
  constraint organization_invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'publisher'::text, 'viewer'::text])))
);

create table organization_members (
  org_id uuid not null,
  user_id uuid not null,
  role text not null,
  joined_at timestamp(3) with time zone not null default now(),
  constraint organization_members_pkey PRIMARY KEY (org_id, user_id),
  constraint organization_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'publisher'::text, 'viewer'::text])))
);

create table organizations (
  id uuid not null default gen_random_uuid(),
  slug text not null,
  name text not null,
  description text,
  website_url text,
  is_personal boolean not null default false,
  subscription_tier text not null default 'free'::text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  created_by uuid,
  deletes_at timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  require_second_factor boolean not null default false,
  constraint organizations_pkey PRIMARY KEY (id),
  constraint organizations_slug_key UNIQUE (slug),
  constraint organizations_deleted_at_check CHECK (((deleted_at IS NULL) OR (deletes_at IS NOT NULL))),
  constraint organizations_deletes_at_check CHECK (((deletes_at IS NULL) OR (NOT is_personal))),
  constraint organizations_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
  constraint organizations_slug_check CHECK ((slug ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text)),
  constraint organizations_subscription_tier_check CHECK ((subscription_tier = ANY (ARRAY['free'::text, 'hobbyist'::text, 'plus'::text, 'pro'::text, 'enterprise'::text])))
);

create table projects (
  id uuid not null default gen_random_uuid(),
  org_id uuid not null,
  name text not null,
  slug text not null,
  domain text,
  owner_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint projects_pkey PRIMARY KEY (id),
  constraint projects_org_id_name_key UNIQUE (org_id, name),
  constraint projects_org_id_slug_key UNIQUE (org_id, slug),
  constraint projects_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);

create table recovery_codes (
  user_id uuid not null,
  code_hash bytea not null,
  created_at timestamp(3) with time zone not null default now(),
  used_at timestamp(3) with time zone,
  constraint recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  constraint recovery_codes_code_hash_check CHECK ((octet_length(code_hash) = 32))
);

create table runs (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  author_id uuid,
  run_number integer not null,
  workflow_type text not null,
  "timestamp" timestamp(3) with time zone not null,
  all_gates_passed boolean,
  average_score double precision,
  raw_markdown text,
  archived_at timestamp(3) with time zone,
  archive_reason text,
  idempotency_key text,
  payload_hash text,
  definition_type text,
  definition_name text,
  definition_version text,
  definition_hash text,
  definition_id uuid,
  new_issues_count integer,
  recurring_issues_count integer,
  regressions_count integer,
  observed_count integer,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint runs_pkey PRIMARY KEY (project_id, id),
  constraint runs_project_id_run_number_key UNIQUE (project_id, run_number),
  constraint runs_archive_reason_check CHECK ((char_length(archive_reason) <= 500)),
  constraint runs_archived_at_check CHECK (((archived_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (archived_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint runs_average_score_check CHECK (((average_score >= (0)::double precision) AND (average_score <= (100)::double precision))),
  constraint runs_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint runs_definition_name_check CHECK ((char_length(definition_name) <= 100)),
  constraint runs_definition_type_check CHECK ((definition_type = ANY (ARRAY['agent'::text, 'command'::text, 'workflow'::text, 'pipeline'::text]))),
  constraint runs_definition_version_check CHECK ((char_length(definition_version) <= 50)),
  constraint runs_idempotency_key_check CHECK ((char_length(idempotency_key) <= 100)),
  constraint runs_raw_markdown_check CHECK ((char_length(raw_markdown) <= 500000)),
  constraint runs_run_number_check CHECK ((run_number > 0)),
  constraint runs_timestamp_check CHECK ((("timestamp" >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND ("timestamp" < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint runs_updated_at_check CHECK (((updated_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (updated_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint runs_workflow_type_check CHECK ((char_length(workflow_type) <= 100))
);

create table schema_compatibility (
  required_migration text
);

create table schema_migrations (
  name text not null,
  checksum text not null,
  applied_at timestamp(3) with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (name)
);

create table second_factors (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  kind text not null,
  name text not null,
  secret bytea,
  last_step bigint,
  wrong_codes integer not null default 0,
  wrong_codes_since timestamp(3) with time zone,
  credential_id bytea,
  public_key bytea,
  sign_count bigint,
  transports text[],
  created_at timestamp(3) with time zone not null default now(),
  last_used_at timestamp(3) with time zone,
  constraint second_factors_pkey PRIMARY KEY (id),
  constraint second_factors_credential_id_key UNIQUE (credential_id),
  constraint second_factors_kind_check CHECK (
CASE kind
    WHEN 'totp'::text THEN ((num_nonnulls(secret, last_step) = 2) AND (num_nonnulls(credential_id, public_key, sign_count, transports) = 0))
    WHEN 'passkey'::text THEN ((num_nonnulls(secret, last_step) = 0) AND (num_nonnulls(credential_id, public_key, sign_count, transports) = 4))
    ELSE false
END),
  constraint second_factors_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);

create table sessions (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  token_hash bytea not null,
  expires_at timestamp(3) with time zone not null,
  revoked_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  last_used_at timestamp(3) with time zone not null default now(),
  address text,
  user_agent text,
  factor_at timestamp(3) with time zone,
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_token_hash_key UNIQUE (token_hash),
  constraint sessions_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

create table sign_in_networks (
  user_id uuid not null,
  network text not null,
  last_signed_in_at timestamp(3) with time zone not null default now(),
  constraint sign_in_networks_pkey PRIMARY KEY (user_id, network)
);

create table status_history (
  project_id uuid not null,
  id uuid not null default gen_random_uuid(),
  issue_id uuid not null,
  old_status text,
  new_status text not null,
  reason text,
  changed_at timestamp(3) with time zone not null default now(),
  transition_type text,
  reverted_change_id uuid,
  run_id uuid,
  source text,
  seq bigint default nextval('status_history_seq_seq'::regclass),
  constraint status_history_pkey PRIMARY KEY (project_id, id),
  constraint status_history_changed_at_check CHECK (((changed_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (changed_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
  constraint status_history_reason_check CHECK ((char_length(reason) <= 1000)),
  constraint status_history_transition_type_check CHECK ((transition_type = ANY (ARRAY['change'::text, 'undo'::text])))
);

create table tracker_changes (
  project_id uuid not null,
  dataset text not null,
  at timestamp(3) with time zone not null default now(),
  kind text not null,
  id uuid not null,
  constraint tracker_changes_kind_check CHECK ((kind = ANY (ARRAY['row'::text, 'visibility'::text, 'deletion'::text])))
);

create table users (
  id uuid not null default gen_random_uuid(),
  username text not null,
  email text not null,
  password_hash text not null,
  platform_role text not null default 'user'::text,
  name text,
  bio text,
  website_url text,
  avatar text,
  avatar_mime_type text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  disabled_at timestamp(3) with time zone,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_username_key UNIQUE (username),
  constraint users_email_check CHECK (((email ~~ '_%@_%'::text) AND (char_length(email) <= 320))),
  constraint users_platform_role_check CHECK ((platform_role = ANY (ARRAY['user'::text, 'admin'::text]))),
  constraint users_username_check CHECK ((username ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text))
);

create table webhook_deliveries (
  id uuid not null default gen_random_uuid(),
  number bigint not null generated always as identity,
  webhook_id uuid not null,
  event_id uuid not null,
  type text not null,
  payload text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  next_attempt_at timestamp(3) with time zone not null default now(),
  first_attempt_at timestamp(3) with time zone,
  last_attempt_at timestamp(3) with time zone,
  response_status integer,
  error text,
  constraint webhook_deliveries_pkey PRIMARY KEY (id),
  constraint webhook_deliveries_webhook_id_event_id_key UNIQUE (webhook_id, event_id),
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);

create table webhook_retired_secrets (
  id bigint not null generated always as identity,
  webhook_id uuid not null,
  secret text not null,
  expires_at timestamp(3) with time zone not null,
  constraint webhook_retired_secrets_pkey PRIMARY KEY (id)
);

create table webhooks (
  id uuid not null default gen_random_uuid(),
  org_id uuid not null,
  url text not null,
  types text[] not null,
  secret text not null,
  "position" bigint not null,
  due_at timestamp(3) with time zone,
  failures integer not null default 0,
  disabled_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  claimed_until timestamp(3) with time zone,
  paused_until timestamp(3) with time zone,
  constraint webhooks_pkey PRIMARY KEY (id)
);

alter sequence status_history_seq_seq owned by status_history.seq;

CREATE INDEX account_mails_email_idx ON public.account_mails USING btree (lower(email), kind, created_at);
CREATE INDEX account_mails_expires_at_idx ON public.account_mails USING btree (expires_at);
CREATE INDEX account_mails_network_prefix_idx ON public.account_mails USING btree (network text_pattern_ops, created_at) WHERE (network IS NOT NULL);
CREATE INDEX account_mails_org_id_idx ON public.account_mails USING btree (org_id) WHERE (org_id IS NOT NULL);
CREATE INDEX account_mails_user_id_idx ON public.account_mails USING btree (user_id, kind, created_at) WHERE (user_id IS NOT NULL);
CREATE INDEX agent_snapshots_project_id_created_at_id_idx ON public.agent_snapshots USING btree (project_id, created_at, id);
CREATE INDEX agent_snapshots_project_id_run_id_idx ON public.agent_snapshots USING btree (project_id, run_id, created_at, id);
CREATE INDEX analysis_records_project_id_created_at_id_idx ON public.analysis_records USING btree (project_id, created_at, id);
CREATE INDEX analysis_records_project_id_run_id_idx ON public.analysis_records USING btree (project_id, run_id, created_at, id);
CREATE INDEX analysis_summaries_project_id_created_at_id_idx ON public.analysis_summaries USING btree (project_id, created_at, id);
CREATE INDEX analysis_summaries_project_id_run_id_idx ON public.analysis_summaries USING btree (project_id, run_id, created_at, id);
CREATE INDEX api_keys_org_id_idx ON public.api_keys USING btree (org_id) WHERE (org_id IS NOT NULL);
CREATE INDEX api_keys_user_id_idx ON public.api_keys USING btree (user_id, created_at);
CREATE INDEX audit_log_actor_user_id_idx ON public.audit_log USING btree (actor_user_id, id);
CREATE INDEX audit_log_org_id_idx ON public.audit_log USING btree (org_id, id);
CREATE UNIQUE INDEX audit_log_position_idx ON public.audit_log USING btree ("position");
CREATE INDEX audit_log_unsealed_idx ON public.audit_log USING btree (id) WHERE ("position" IS NULL);
CREATE INDEX catalog_syncs_outcome_id_idx ON public.catalog_syncs USING btree (outcome, id);
CREATE INDEX definition_execution_callers_user_id_idx ON public.definition_execution_callers USING btree (user_id);
CREATE INDEX definition_executions_age_idx ON public.definition_executions USING btree (recorded_at);
CREATE INDEX definition_executions_definition_id_idx ON public.definition_executions USING btree (definition_id);
CREATE INDEX definition_executions_line_id_recorded_at_idx ON public.definition_executions USING btree (line_id, recorded_at) INCLUDE (source, definition_id);
CREATE INDEX definition_executions_recorded_by_idx ON public.definition_executions USING btree (recorded_by);
CREATE INDEX definition_forks_forked_by_idx ON public.definition_forks USING btree (forked_by);
CREATE INDEX definition_forks_source_line_id_idx ON public.definition_forks USING btree (source_line_id, forked_at);
CREATE INDEX definition_lines_execution_count_idx ON public.definition_lines USING btree (execution_count, id);
CREATE INDEX definition_lines_plain_name_idx ON public.definition_lines USING btree (replace(name, '-'::text, ''::text)) WHERE (name ~~ '%-%'::text);
CREATE INDEX definition_lines_type_name_idx ON public.definition_lines USING btree (type, name, first_published_at, created_at, id);
CREATE INDEX definition_lines_unique_execution_count_idx ON public.definition_lines USING btree (unique_execution_count, id);
CREATE INDEX definition_listings_author_id_idx ON public.definition_listings USING btree (author_id) WHERE is_public;
CREATE INDEX definition_listings_created_at_idx ON public.definition_listings USING btree (created_at, definition_id) INCLUDE (is_public_latest) WHERE is_public;
CREATE INDEX definition_listings_facets_idx ON public.definition_listings USING btree (type, domain, agent_type, status) INCLUDE (org_id, author_id, tier, visibility, authorship_type, is_fork, is_public_latest, is_public_latest_of_status) WHERE is_public;
CREATE INDEX definition_listings_line_id_idx ON public.definition_listings USING btree (line_id);
CREATE INDEX definition_listings_name_idx ON public.definition_listings USING btree (name, definition_id) INCLUDE (is_public_latest) WHERE is_public;
CREATE INDEX definition_listings_org_id_idx ON public.definition_listings USING btree (org_id);
CREATE INDEX definition_listings_updated_at_idx ON public.definition_listings USING btree (updated_at, definition_id) INCLUDE (is_public_latest) WHERE is_public;
CREATE INDEX definition_listings_words_idx ON public.definition_listings USING gin (words, tags) WITH (fastupdate=off) WHERE is_public;
CREATE INDEX definition_references_plain_name_idx ON public.definition_references USING btree (name, type) WHERE (length(name) <= 100);
CREATE INDEX definitions_author_id_idx ON public.definitions USING btree (author_id);
CREATE INDEX definitions_drafts_idx ON public.definitions USING btree (org_id) WHERE (status = 'draft'::text);
CREATE INDEX definitions_json_hash_idx ON public.definitions USING btree (id) WHERE (json_hash IS DISTINCT FROM hash);
CREATE INDEX definitions_open_name_idx ON public.definitions USING btree (name, type) WHERE ((status <> 'draft'::text) AND (visibility <> 'private'::text) AND (quarantined_at IS NULL));
CREATE INDEX events_org_id_type_position_idx ON public.events USING btree (org_id, type, "position");
CREATE INDEX events_type_position_idx ON public.events USING btree (type, "position") WHERE is_public;
CREATE INDEX events_unsettled_idx ON public.events USING btree (number) WHERE ("position" IS NULL);
CREATE INDEX export_jobs_expires_at_id_idx ON public.export_jobs USING btree (expires_at, id) WHERE (status = 'ready'::text);
CREATE INDEX export_jobs_finished_at_idx ON public.export_jobs USING btree (finished_at);
CREATE UNIQUE INDEX export_jobs_org_id_active_key ON public.export_jobs USING btree (org_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX export_jobs_org_id_created_at_id_idx ON public.export_jobs USING btree (org_id, created_at, id);
CREATE INDEX factor_challenges_expires_at_idx ON public.factor_challenges USING btree (expires_at);
CREATE INDEX factor_challenges_user_id_idx ON public.factor_challenges USING btree (user_id);
CREATE INDEX idempotency_keys_created_at_idx ON public.idempotency_keys USING btree (created_at);
CREATE INDEX idempotency_keys_large_idx ON public.idempotency_keys USING btree (caller) WHERE (octet_length(body) > 16384);
CREATE INDEX issue_notes_project_id_created_at_id_idx ON public.issue_notes USING btree (project_id, created_at, id);
CREATE INDEX issue_notes_project_id_issue_id_idx ON public.issue_notes USING btree (project_id, issue_id, created_at, id);
CREATE INDEX issues_deleted_idx ON public.issues USING btree (project_id, id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX issues_project_id_created_at_id_idx ON public.issues USING btree (project_id, created_at, id) INCLUDE (deleted_at);
CREATE INDEX login_account_attempts_last_attempt_at_idx ON public.login_account_attempts USING btree (last_attempt_at);
CREATE INDEX login_attempts_last_attempt_at_idx ON public.login_attempts USING btree (last_attempt_at);
CREATE INDEX login_waits_waiting_since_idx ON public.login_waits USING btree (waiting_since);
CREATE INDEX model_alias_targets_alias_id_idx ON public.model_alias_targets USING btree (alias, id);
CREATE INDEX model_price_changes_provider_model_id_id_idx ON public.model_price_changes USING btree (provider, model_id, id) INCLUDE (changed_at, field, old_value);
CREATE INDEX model_price_changes_sync_id_idx ON public.model_price_changes USING btree (sync_id);
CREATE INDEX model_price_corrections_provider_model_id_id_idx ON public.model_price_corrections USING btree (provider, model_id, id);
CREATE INDEX occurrences_project_id_created_at_id_idx ON public.occurrences USING btree (project_id, created_at, id);
CREATE INDEX occurrences_project_id_issue_id_idx ON public.occurrences USING btree (project_id, issue_id, created_at, id);
CREATE INDEX occurrences_project_id_run_id_idx ON public.occurrences USING btree (project_id, run_id, created_at, id);
CREATE INDEX organization_invitations_created_at_idx ON public.organization_invitations USING btree (created_at);
CREATE INDEX organization_invitations_email_idx ON public.organization_invitations USING btree (email) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
CREATE INDEX organization_invitations_invited_by_idx ON public.organization_invitations USING btree (invited_by, created_at);
CREATE UNIQUE INDEX organization_invitations_open_key ON public.organization_invitations USING btree (org_id, email) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
CREATE INDEX organization_members_user_id_idx ON public.organization_members USING btree (user_id);
CREATE INDEX organizations_created_by_idx ON public.organizations USING btree (created_by) WHERE (created_by IS NOT NULL);
CREATE INDEX organizations_deletes_at_idx ON public.organizations USING btree (deletes_at) WHERE ((deletes_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX runs_archived_idx ON public.runs USING btree (project_id, id) WHERE (archived_at IS NOT NULL);
CREATE INDEX runs_project_id_created_at_id_idx ON public.runs USING btree (project_id, created_at, id);
CREATE UNIQUE INDEX schema_compatibility_one_row_idx ON public.schema_compatibility USING btree ((true));
CREATE INDEX second_factors_user_id_idx ON public.second_factors USING btree (user_id);
CREATE INDEX sessions_ended_at_idx ON public.sessions USING btree (LEAST(expires_at, revoked_at));
CREATE INDEX sessions_user_id_idx ON public.sessions USING btree (user_id);
CREATE INDEX sign_in_networks_last_signed_in_at_idx ON public.sign_in_networks USING btree (last_signed_in_at);
CREATE INDEX status_history_project_id_changed_at_id_idx ON public.status_history USING btree (project_id, changed_at, id);
CREATE INDEX status_history_project_id_issue_id_idx ON public.status_history USING btree (project_id, issue_id, changed_at, id);
CREATE INDEX tracker_changes_age_idx ON public.tracker_changes USING btree (at);
CREATE INDEX tracker_changes_project_id_dataset_at_idx ON public.tracker_changes USING btree (project_id, dataset, at) INCLUDE (kind, id);
CREATE UNIQUE INDEX users_email_key ON public.users USING btree (lower(email));
CREATE INDEX webhook_deliveries_pending_idx ON public.webhook_deliveries USING btree (webhook_id, next_attempt_at) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_webhook_id_number_idx ON public.webhook_deliveries USING btree (webhook_id, number);
CREATE INDEX webhook_retired_secrets_expires_at_idx ON public.webhook_retired_secrets USING btree (expires_at);
CREATE INDEX webhook_retired_secrets_webhook_id_expires_at_idx ON public.webhook_retired_secrets USING btree (webhook_id, expires_at);
CREATE INDEX webhooks_due_at_idx ON public.webhooks USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX webhooks_org_id_idx ON public.webhooks USING btree (org_id);
CREATE INDEX webhooks_position_idx ON public.webhooks USING btree ("position") WHERE (disabled_at IS NULL);

alter table account_mails add constraint account_mails_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id) ON DELETE CASCADE;
alter table account_mails add constraint account_mails_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table agent_snapshots add constraint agent_snapshots_project_id_run_id_fkey FOREIGN KEY (project_id, run_id) REFERENCES runs(project_id, id);
alter table analysis_records add constraint analysis_records_project_id_run_id_fkey FOREIGN KEY (project_id, run_id) REFERENCES runs(project_id, id);
alter table analysis_summaries add constraint analysis_summaries_project_id_run_id_fkey FOREIGN KEY (project_id, run_id) REFERENCES runs(project_id, id);
alter table api_keys add constraint api_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id) ON DELETE CASCADE;
alter table api_keys add constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table definition_execution_callers add constraint definition_execution_callers_line_id_fkey FOREIGN KEY (line_id) REFERENCES definition_lines(id) ON DELETE CASCADE;
alter table definition_execution_callers add constraint definition_execution_callers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table definition_execution_hours add constraint definition_execution_hours_line_id_fkey FOREIGN KEY (line_id) REFERENCES definition_lines(id) ON DELETE CASCADE;
alter table definition_executions add constraint definition_executions_definition_id_fkey FOREIGN KEY (definition_id) REFERENCES definitions(id) ON DELETE SET NULL;
alter table definition_executions add constraint definition_executions_line_id_fkey FOREIGN KEY (line_id) REFERENCES definition_lines(id) ON DELETE CASCADE;
alter table definition_executions add constraint definition_executions_recorded_by_fkey FOREIGN KEY (recorded_by) REFERENCES users(id);
alter table definition_forks add constraint definition_forks_forked_by_fkey FOREIGN KEY (forked_by) REFERENCES users(id);
alter table definition_forks add constraint definition_forks_line_id_fkey FOREIGN KEY (line_id) REFERENCES definition_lines(id) ON DELETE CASCADE;
alter table definition_forks add constraint definition_forks_source_line_id_fkey FOREIGN KEY (source_line_id) REFERENCES definition_lines(id) ON DELETE SET NULL;
alter table definition_forks add constraint definition_forks_source_org_id_fkey FOREIGN KEY (source_org_id) REFERENCES organizations(id);
alter table definition_lines add constraint definition_lines_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id);
alter table definition_listings add constraint definition_listings_definition_id_fkey FOREIGN KEY (definition_id) REFERENCES definitions(id) ON DELETE CASCADE;
alter table definition_references add constraint definition_references_definition_id_fkey FOREIGN KEY (definition_id) REFERENCES definitions(id) ON DELETE CASCADE;
alter table definition_references add constraint definition_references_target_org_id_fkey FOREIGN KEY (target_org_id) REFERENCES organizations(id);
alter table definitions add constraint definitions_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id);
alter table definitions add constraint definitions_line_id_fkey FOREIGN KEY (line_id, org_id, type, name) REFERENCES definition_lines(id, org_id, type, name);
alter table events add constraint events_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id) ON DELETE CASCADE;
alter table factor_challenges add constraint factor_challenges_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;
alter table factor_challenges add constraint factor_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table held_prices add constraint held_prices_provider_model_id_fkey FOREIGN KEY (provider, model_id) REFERENCES models(provider, model_id);
alter table issue_notes add constraint issue_notes_project_id_issue_id_fkey FOREIGN KEY (project_id, issue_id) REFERENCES issues(project_id, id);
alter table issues add constraint issues_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);
alter table model_price_changes add constraint model_price_changes_provider_model_id_fkey FOREIGN KEY (provider, model_id) REFERENCES models(provider, model_id);
alter table model_price_changes add constraint model_price_changes_sync_id_fkey FOREIGN KEY (sync_id) REFERENCES catalog_syncs(id);
alter table model_price_corrections add constraint model_price_corrections_provider_model_id_fkey FOREIGN KEY (provider, model_id) REFERENCES models(provider, model_id);
alter table models add constraint models_provider_fkey FOREIGN KEY (provider) REFERENCES model_providers(id);
alter table occurrences add constraint occurrences_project_id_issue_id_fkey FOREIGN KEY (project_id, issue_id) REFERENCES issues(project_id, id);
alter table occurrences add constraint occurrences_project_id_run_id_fkey FOREIGN KEY (project_id, run_id) REFERENCES runs(project_id, id);
alter table organization_invitations add constraint organization_invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON DELETE CASCADE;
alter table organization_invitations add constraint organization_invitations_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id) ON DELETE CASCADE;
alter table organization_members add constraint organization_members_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id) ON DELETE CASCADE;
alter table organization_members add constraint organization_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table organizations add constraint organizations_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL;
alter table projects add constraint projects_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id);
alter table recovery_codes add constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table runs add constraint runs_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);
alter table second_factors add constraint second_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table sessions add constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table sign_in_networks add constraint sign_in_networks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table status_history add constraint status_history_project_id_issue_id_fkey FOREIGN KEY (project_id, issue_id) REFERENCES issues(project_id, id);
alter table webhook_deliveries add constraint webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE;
alter table webhook_retired_secrets add constraint webhook_retired_secrets_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE;
alter table webhooks add constraint webhooks_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id) ON DELETE CASCADE;

CREATE OR REPLACE FUNCTION public.model_prices(model models)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_strip_nulls(jsonb_build_object(
    'input', model.input_usd_per_mtok,
    'output', model.output_usd_per_mtok,
    'cacheRead', model.cache_read_usd_per_mtok,
    'cacheWrite', model.cache_write_usd_per_mtok
  )) || coalesce(model.pricing, '{}')
$function$;

CREATE OR REPLACE FUNCTION public.record_model_price_changes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  -- Truncated: rounding could record an instant in the future.
  changed_at constant timestamptz := greatest(date_trunc('milliseconds', clock_timestamp()), new.created_at);
begin
  insert into model_price_changes (provider, model_id, field, old_value, new_value, changed_at, sync_id)
  select
    new.provider,
    new.model_id,
    field,
    before.value::numeric,
    after.value::numeric,
    changed_at,
    nullif(current_setting('ulr.catalog_sync', true), '')::bigint
  from jsonb_each_text(model_prices(old)) as before (field, value)
  full join jsonb_each_text(model_prices(new)) as after (field, value) using (field)
  where before.value::numeric is distinct from after.value::numeric
  order by length(field), field collate "C";
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.refuse_change_of_published_definition()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    raise exception 'Cannot delete definition %/%@%: it is %', old.type, old.name, old.version, old.status
      using errcode = 'restrict_violation', constraint = 'definitions_published_guard', table = 'definitions';
  end if;
  if (old.status, new.status) not in (('published', 'deprecated'), ('deprecated', 'archived'))
    and old.status <> new.status
    or (new.hash, new.json_hash) is distinct from (old.hash, old.json_hash)
    and (old.json_hash is not distinct from old.hash or new.json_hash is distinct from new.hash)
    or (
      new.id, new.line_id, new.org_id, new.type, new.name, new.version, new.visibility, new.tier, new.yaml,
      new.display_name, new.description, new.domain, new.subdomain, new.agent_type, new.author, new.author_id,
      new.provenance, new.tags, new.change_summary, new.change_type, new.created_at, new.published_at
    ) is distinct from (
      old.id, old.line_id, old.org_id, old.type, old.name, old.version, old.visibility, old.tier, old.yaml,
      old.display_name, old.description, old.domain, old.subdomain, old.agent_type, old.author, old.author_id,
      old.provenance, old.tags, old.change_summary, old.change_type, old.created_at, old.published_at
    )
  then
    raise exception 'Cannot change definition %/%@%: it is %', old.type, old.name, old.version, old.status
      using errcode = 'restrict_violation', constraint = 'definitions_published_guard', table = 'definitions';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.quarantine_new_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  select l.quarantined_at, l.quarantine_reason
  into new.quarantined_at, new.quarantine_reason
  from definition_lines as l
  where l.id = new.line_id;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.count_yaml_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update definition_lines
  set yaml_bytes = yaml_bytes
    + case when tg_op = 'DELETE' then 0 else octet_length(new.yaml) end
    - case when tg_op = 'INSERT' then 0 else octet_length(old.yaml) end
  where id = case when tg_op = 'DELETE' then old.line_id else new.line_id end;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.definition_is_public(status text, visibility text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select status in ('published', 'deprecated') and visibility = 'public'
$function$;

CREATE OR REPLACE FUNCTION public.definition_search_text(source text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select trim(both '-' from regexp_replace(
    lower(source), '[\u0001-\u002f\u003a-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+', '-', 'g'
  ))
$function$;

CREATE OR REPLACE FUNCTION public.definition_words(source text)
 RETURNS TABLE(place bigint, word text, stem text, is_stop_word boolean)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select found.place, found.word, coalesce(lexized.stems[1], found.word), coalesce(cardinality(lexized.stems) = 0, false)
  from (
    select min(piece.place) as place, left(piece.word, 40) as word
    from string_to_table(definition_search_text(source), '-') with ordinality as piece (word, place)
    where piece.word <> ''
    group by left(piece.word, 40)
  ) as found
  -- no stem at all is how the dictionary marks a stop word
  cross join lateral (select ts_lexize('pg_catalog.english_stem', found.word) as stems) as lexized
  order by found.place
$function$;

CREATE OR REPLACE FUNCTION public.definition_search_vector(name text, display_name text, description text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  with titles as (
    select '@' as mark, name as title
    union all
    select '#', left(display_name, 200)
  ), title_words as (
    select t.mark, unnest(array[w.word, w.stem]) as lexeme
    from titles as t
    cross join lateral definition_words(t.title) as w
  ), description_words as (
    select w.word, w.stem
    from definition_words(left(description, 4000)) as w
    where not w.is_stop_word
  )
  select array_to_tsvector(array(
    select w.mark || w.lexeme from title_words as w
    union
    select w.lexeme from title_words as w
    union
    select '^' || left(w.lexeme, 1) from title_words as w
    union
    select unnest(array[w.word, w.stem, '^' || left(w.word, 1)]) from description_words as w
    union
    select '*' || substr(found.text, start, 30)
    from titles as t
    cross join lateral (select definition_search_text(t.title) as text) as found
    cross join generate_series(2, length(found.text) - 2) as start
    where substr(found.text, start - 1, 1) <> '-' and substr(found.text, start, 1) <> '-'
  ))
$function$;

CREATE OR REPLACE FUNCTION public.refresh_definition_listings(line_ids uuid[], changed uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET jit TO 'off'
AS $function$
begin
  delete from definition_listings where definition_id = any(changed);
  insert into definition_listings (
    definition_id, line_id, org_id, author_id, created_at, updated_at, is_public, is_latest, is_first,
    is_latest_of_status, is_public_latest, is_public_latest_of_status, is_fork, type, name, status, visibility, tier,
    domain, agent_type, authorship_type, tags, words
  )
  select
    d.id, d.line_id, d.org_id, d.author_id, d.created_at, d.updated_at, f.is_public, f.is_latest, f.is_first,
    f.is_latest_of_status, f.is_public_latest, f.is_public_latest_of_status, l.forked_from_id is not null, d.type,
    d.name, d.status, d.visibility, d.tier, d.domain, d.agent_type, d.authorship_type, d.tags,
    definition_search_vector(d.name, d.display_name, d.description)
  from latest_definition_versions(line_ids) as f
  join definitions as d on d.id = f.definition_id
  join definition_lines as l on l.id = d.line_id
  where d.id = any(changed);
  update definition_listings as v
  set is_latest = f.is_latest, is_first = f.is_first, is_latest_of_status = f.is_latest_of_status,
    is_public_latest = f.is_public_latest, is_public_latest_of_status = f.is_public_latest_of_status
  from latest_definition_versions(line_ids) as f
  where v.definition_id = f.definition_id
    and (v.is_latest, v.is_first, v.is_latest_of_status, v.is_public_latest, v.is_public_latest_of_status)
      is distinct from
      (f.is_latest, f.is_first, f.is_latest_of_status, f.is_public_latest, f.is_public_latest_of_status);
end
$function$;

CREATE OR REPLACE FUNCTION public.list_changed_definitions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  line_ids uuid[] := array(select distinct line_id from changed);
begin
  perform from definition_lines where id = any(line_ids) order by id for no key update;
  perform refresh_definition_listings(line_ids, array(select id from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.list_changed_line()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update definition_listings set is_fork = new.forked_from_id is not null where line_id = new.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.add_execution_hours()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into definition_execution_hours as h (line_id, hour, definition_id, source, count)
  select line_id, date_trunc('hour', recorded_at, 'UTC'), definition_id, source, count(*)
  from added
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  on conflict on constraint definition_execution_hours_key do update set count = h.count + excluded.count;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.remove_execution_hours()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  with gone as (
    select line_id, date_trunc('hour', recorded_at, 'UTC') as hour, definition_id, source, count(*) as count
    from removed
    group by 1, 2, 3, 4
  )
  update definition_execution_hours as h
  set count = h.count - g.count
  from gone as g
  where h.line_id = g.line_id
    and h.hour = g.hour
    and h.definition_id is not distinct from g.definition_id
    and h.source = g.source;
  delete from definition_execution_hours
  where count = 0 and line_id in (select line_id from removed);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.audit_entry_hash(entry audit_log)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
RETURN sha256(((entry).previous_hash || convert_to((jsonb_build_array((entry)."position", (entry).id, to_char(((entry).occurred_at AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD HH24:MI:SS.MS'::text), (entry).actor_type, (entry).actor_user_id, (entry).credential_id, (entry).action, (entry).subject_type, (entry).subject_id, (entry).org_id, (entry).request_id, (entry).client_request_id, (entry).address, (entry).user_agent, (entry).details))::text, 'UTF8'::name)));

CREATE OR REPLACE FUNCTION public.seal_audit_log(max_entries integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  chain audit_chain;
  entry audit_log;
  sealed integer := 0;
begin
  select * into chain from audit_chain for update skip locked;
  if not found then
    return 0;
  end if;
  for entry in select * from audit_log a where a.position is null order by a.id limit max_entries loop
    entry.position := chain.sealed_position + 1;
    entry.previous_hash := chain.sealed_hash;
    entry.hash := audit_entry_hash(entry);
    update audit_log a
    set position = entry.position, previous_hash = entry.previous_hash, hash = entry.hash
    where a.id = entry.id;
    chain.sealed_position := entry.position;
    chain.sealed_hash := entry.hash;
    sealed := sealed + 1;
  end loop;
  update audit_chain
  set sealed_position = chain.sealed_position, sealed_hash = chain.sealed_hash
  where sealed > 0;
  return sealed;
end
$function$;

CREATE OR REPLACE FUNCTION public.delete_old_audit_entries(max_entries integer, retention_days integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  chain audit_chain;
  entry audit_log;
  deleted integer := 0;
begin
  select * into chain from audit_chain for update skip locked;
  if not found then
    return 0;
  end if;
  for entry in
    select * from audit_log a where a.position > chain.deleted_position order by a.position limit max_entries
  loop
    exit when entry.occurred_at >= now() - make_interval(days => greatest(retention_days, 400));
    delete from audit_log a where a.id = entry.id;
    chain.deleted_position := entry.position;
    chain.deleted_hash := entry.hash;
    deleted := deleted + 1;
  end loop;
  update audit_chain
  set deleted_position = chain.deleted_position, deleted_hash = chain.deleted_hash
  where deleted > 0;
  return deleted;
end
$function$;

CREATE OR REPLACE FUNCTION public.guard_audit_log()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if tg_op = 'INSERT' then
    new.occurred_at := now();
    new.position := null;
    return new;
  end if;
  if tg_op = 'UPDATE' and old.position is null
    and to_jsonb(new) - '{position,previous_hash,hash}'::text[]
      = to_jsonb(old) - '{position,previous_hash,hash}'::text[]
  then
    return new;
  end if;
  if tg_op = 'DELETE' and old.occurred_at < now() - interval '400 days' then
    return old;
  end if;
  raise exception 'audit_log is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end
$function$;

CREATE OR REPLACE FUNCTION public.raise_catalog_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update catalog_version set number = number + 1;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.refuse_wrong_time()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  begin
    raise exception using
      errcode = 'check_violation',
      message = format(
        case tg_op
          when 'INSERT' then '%s of a new row of "%s" must be the start of its transaction, now()'
          else '%s of a row of "%s" must not change'
        end,
        tg_argv[0], tg_table_name
      ),
      hint = 'Exports rely on it. To import old rows: set ulr.backfill = ''on''.';
  end
  $function$;

CREATE OR REPLACE FUNCTION public.log_tracker_updates()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    select project_id, tg_argv[0], now(), 'row', id
    from changed_rows;
    return null;
  end
  $function$;

CREATE OR REPLACE FUNCTION public.log_tracker_deletions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    select project_id, tg_argv[0], now(), 'deletion', id
    from deleted_rows;
    return null;
  end
  $function$;

CREATE OR REPLACE FUNCTION public.log_tracker_import()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    values (new.project_id, tg_argv[0], now(), 'row', new.id);
    if tg_argv[1] = 'parent' then
      insert into tracker_changes (project_id, dataset, at, kind, id)
      values (new.project_id, tg_argv[0], now(), 'visibility', new.id);
    end if;
    return null;
  end
  $function$;

CREATE OR REPLACE FUNCTION public.log_tracker_visibility()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    values (new.project_id, tg_argv[0], now(), 'visibility', new.id);
    return null;
  end
  $function$;

CREATE OR REPLACE FUNCTION public.log_tracker_key()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  begin
    insert into tracker_changes (project_id, dataset, at, kind, id)
    values (old.project_id, tg_argv[0], now(), 'deletion', old.id);
    return null;
  end
  $function$;

CREATE OR REPLACE FUNCTION public.reject_truncate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception using
    errcode = 'object_not_in_prerequisite_state',
    message = format('Cannot truncate "%s": increments of exports would not have the deleted rows', tg_table_name),
    hint = 'Delete the rows. If no copy is kept by increments: set ulr.backfill = ''on''.';
end
$function$;

CREATE OR REPLACE FUNCTION public.record_model_alias_targets()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into model_alias_targets (alias, provider, model_id, valid_from)
  select alias, effective.provider, effective.model_id, date_trunc('milliseconds', clock_timestamp())
  from (
    select distinct on (alias) alias, provider, model_id
    from model_aliases
    order by alias, origin = 'manual' desc
  ) as effective
  full join (
    select distinct on (alias) alias, provider, model_id
    from model_alias_targets
    order by alias, id desc
  ) as recorded using (alias)
  where (effective.provider, effective.model_id) is distinct from (recorded.provider, recorded.model_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.settle_events(max_events integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  last_position bigint;
  settled integer;
begin
  if not exists (select from events where position is null) then
    return 0;
  end if;
  select settled_position into last_position from event_log for update;
  update events as e
  set position = last_position + n.place
  from (
    select id, row_number() over (order by number) as place
    from (select id, number from events where position is null order by number limit max_events) as unsettled
  ) as n
  where e.id = n.id;
  get diagnostics settled = row_count;
  update event_log set settled_position = last_position + settled where settled > 0;
  return settled;
end
$function$;

CREATE OR REPLACE FUNCTION public.tracker_transaction_start()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$ select now() $function$;

CREATE OR REPLACE FUNCTION public.log_tracker_change(project uuid, dataset text, kind text, row_id uuid)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    insert into tracker_changes (project_id, dataset, at, kind, id) values (project, dataset, now(), kind, row_id)
  $function$;

CREATE OR REPLACE FUNCTION public.find_tracker_shards(project uuid)
 RETURNS TABLE(tracker_table text, shard text, node_host text, node_port integer)
 LANGUAGE sql
 STABLE
AS $function$ select null::text, null::text, null::text, null::integer where false $function$;

CREATE OR REPLACE FUNCTION public.list_tracker_nodes()
 RETURNS TABLE(node_host text, node_port integer)
 LANGUAGE sql
 STABLE
AS $function$ select null::text, null::integer where false $function$;

CREATE OR REPLACE FUNCTION public.list_updated_definitions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  ids uuid[];
  line_ids uuid[];
begin
  select array_agg(c.id), array_agg(distinct c.line_id)
  into ids, line_ids
  from changed as c
  join former as f on f.id = c.id
  where c.json_hash is not distinct from f.json_hash
    or (
      c.line_id, c.org_id, c.author_id, c.type, c.name, c.version, c.status, c.visibility, c.tier, c.domain,
      c.agent_type, c.authorship_type, c.display_name, c.description, c.tags, c.quarantined_at, c.created_at,
      c.updated_at
    ) is distinct from (
      f.line_id, f.org_id, f.author_id, f.type, f.name, f.version, f.status, f.visibility, f.tier, f.domain,
      f.agent_type, f.authorship_type, f.display_name, f.description, f.tags, f.quarantined_at, f.created_at,
      f.updated_at
    );
  if ids is null then
    return null;
  end if;
  perform from definition_lines where id = any(line_ids) order by id for no key update;
  perform refresh_definition_listings(line_ids, ids);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.latest_definition_versions(line_ids uuid[])
 RETURNS TABLE(definition_id uuid, is_public boolean, is_latest boolean, is_first boolean, is_latest_of_status boolean, is_public_latest boolean, is_public_latest_of_status boolean)
 LANGUAGE sql
 STABLE
AS $function$
  select
    d.id,
    n.is_public,
    row_number() over (partition by d.line_id order by n.version desc) = 1,
    row_number() over (
      partition by d.line_id
      order by d.quarantined_at is not null, array_position(array['published', 'deprecated', 'draft'], d.status),
        n.version desc
    ) = 1,
    row_number() over (partition by d.line_id, d.status order by n.version desc) = 1,
    n.is_public and row_number() over (partition by d.line_id, n.is_public order by n.version desc) = 1,
    n.is_public and row_number() over (partition by d.line_id, n.is_public, d.status order by n.version desc) = 1
  from definitions as d
  cross join lateral (
    select
      definition_is_public(d.status, d.visibility) and d.quarantined_at is null as is_public,
      array[d.version_major, d.version_minor, d.version_patch] as version
  ) as n
  where d.line_id = any(line_ids) and d.status <> 'archived'
$function$;

CREATE OR REPLACE FUNCTION public.refuse_ended_credential()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select
    from (
      select user_id, revoked_at, expires_at from api_keys where id = new.credential_id
      union all
      select user_id, revoked_at, expires_at from sessions where id = new.credential_id
    ) as c
    join users as u on u.id = c.user_id
    where (c.revoked_at is null or c.revoked_at = now()::timestamptz(3))
      and (c.expires_at is null or c.expires_at > clock_timestamp())
      and u.disabled_at is null
  ) then
    raise exception 'Cannot write with credential %: it has ended', new.credential_id
      using errcode = 'restrict_violation', constraint = 'audit_log_live_credential', table = 'audit_log';
  end if;
  return null;
end
$function$;

CREATE TRIGGER agent_snapshots_log_delete_trigger AFTER DELETE ON public.agent_snapshots REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_deletions('agent-snapshots');
CREATE TRIGGER agent_snapshots_log_insert_trigger AFTER INSERT ON public.agent_snapshots FOR EACH ROW WHEN ((new.created_at <> (now())::timestamp(3) with time zone)) EXECUTE FUNCTION log_tracker_import('agent-snapshots', 'child');
CREATE TRIGGER agent_snapshots_log_key_trigger AFTER UPDATE ON public.agent_snapshots FOR EACH ROW WHEN (((new.id <> old.id) OR (new.project_id <> old.project_id) OR (new.created_at <> old.created_at))) EXECUTE FUNCTION log_tracker_key('agent-snapshots');
CREATE TRIGGER agent_snapshots_log_truncate_trigger BEFORE TRUNCATE ON public.agent_snapshots FOR EACH STATEMENT WHEN ((current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION reject_truncate();
CREATE TRIGGER agent_snapshots_log_update_trigger AFTER UPDATE ON public.agent_snapshots REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_updates('agent-snapshots');
CREATE TRIGGER agent_snapshots_time_insert_trigger AFTER INSERT ON public.agent_snapshots FOR EACH ROW WHEN (((new.created_at <> (now())::timestamp(3) with time zone) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER agent_snapshots_time_update_trigger AFTER UPDATE ON public.agent_snapshots FOR EACH ROW WHEN (((new.created_at <> old.created_at) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER analysis_records_log_delete_trigger AFTER DELETE ON public.analysis_records REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_deletions('analysis-records');
CREATE TRIGGER analysis_records_log_insert_trigger AFTER INSERT ON public.analysis_records FOR EACH ROW WHEN ((new.created_at <> (now())::timestamp(3) with time zone)) EXECUTE FUNCTION log_tracker_import('analysis-records', 'child');
CREATE TRIGGER analysis_records_log_key_trigger AFTER UPDATE ON public.analysis_records FOR EACH ROW WHEN (((new.id <> old.id) OR (new.project_id <> old.project_id) OR (new.created_at <> old.created_at))) EXECUTE FUNCTION log_tracker_key('analysis-records');
CREATE TRIGGER analysis_records_log_truncate_trigger BEFORE TRUNCATE ON public.analysis_records FOR EACH STATEMENT WHEN ((current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION reject_truncate();
CREATE TRIGGER analysis_records_log_update_trigger AFTER UPDATE ON public.analysis_records REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_updates('analysis-records');
CREATE TRIGGER analysis_records_time_insert_trigger AFTER INSERT ON public.analysis_records FOR EACH ROW WHEN (((new.created_at <> (now())::timestamp(3) with time zone) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER analysis_records_time_update_trigger AFTER UPDATE ON public.analysis_records FOR EACH ROW WHEN (((new.created_at <> old.created_at) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER analysis_summaries_log_delete_trigger AFTER DELETE ON public.analysis_summaries REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_deletions('analysis-summaries');
CREATE TRIGGER analysis_summaries_log_insert_trigger AFTER INSERT ON public.analysis_summaries FOR EACH ROW WHEN ((new.created_at <> (now())::timestamp(3) with time zone)) EXECUTE FUNCTION log_tracker_import('analysis-summaries', 'child');
CREATE TRIGGER analysis_summaries_log_key_trigger AFTER UPDATE ON public.analysis_summaries FOR EACH ROW WHEN (((new.id <> old.id) OR (new.project_id <> old.project_id) OR (new.created_at <> old.created_at))) EXECUTE FUNCTION log_tracker_key('analysis-summaries');
CREATE TRIGGER analysis_summaries_log_truncate_trigger BEFORE TRUNCATE ON public.analysis_summaries FOR EACH STATEMENT WHEN ((current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION reject_truncate();
CREATE TRIGGER analysis_summaries_log_update_trigger AFTER UPDATE ON public.analysis_summaries REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_updates('analysis-summaries');
CREATE TRIGGER analysis_summaries_time_insert_trigger AFTER INSERT ON public.analysis_summaries FOR EACH ROW WHEN (((new.created_at <> (now())::timestamp(3) with time zone) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER analysis_summaries_time_update_trigger AFTER UPDATE ON public.analysis_summaries FOR EACH ROW WHEN (((new.created_at <> old.created_at) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER audit_log_guard BEFORE INSERT OR DELETE OR UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION guard_audit_log();
CREATE TRIGGER audit_log_guard_truncate BEFORE TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION guard_audit_log();
CREATE CONSTRAINT TRIGGER audit_log_live_credential AFTER INSERT ON public.audit_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.credential_id IS NOT NULL) AND (new.action <> 'request.refuse'::text))) EXECUTE FUNCTION refuse_ended_credential();
CREATE TRIGGER catalog_syncs_raise_catalog_version AFTER INSERT OR UPDATE ON public.catalog_syncs FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_version();
CREATE TRIGGER definition_executions_delete_hours AFTER DELETE ON public.definition_executions REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_execution_hours();
CREATE TRIGGER definition_executions_insert_hours AFTER INSERT ON public.definition_executions REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_execution_hours();
CREATE TRIGGER definition_executions_update_hours_away AFTER UPDATE ON public.definition_executions REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_execution_hours();
CREATE TRIGGER definition_executions_update_hours_back AFTER UPDATE ON public.definition_executions REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_execution_hours();
CREATE TRIGGER definition_lines_update_listings AFTER UPDATE OF forked_from_id ON public.definition_lines FOR EACH ROW WHEN (((old.forked_from_id IS NULL) <> (new.forked_from_id IS NULL))) EXECUTE FUNCTION list_changed_line();
CREATE TRIGGER definitions_delete_listings AFTER DELETE ON public.definitions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION list_changed_definitions();
CREATE TRIGGER definitions_delete_yaml_bytes AFTER DELETE ON public.definitions FOR EACH ROW EXECUTE FUNCTION count_yaml_bytes();
CREATE TRIGGER definitions_insert_listings AFTER INSERT ON public.definitions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION list_changed_definitions();
CREATE TRIGGER definitions_insert_quarantine BEFORE INSERT ON public.definitions FOR EACH ROW EXECUTE FUNCTION quarantine_new_version();
CREATE TRIGGER definitions_insert_yaml_bytes AFTER INSERT ON public.definitions FOR EACH ROW EXECUTE FUNCTION count_yaml_bytes();
CREATE TRIGGER definitions_published_guard BEFORE DELETE OR UPDATE ON public.definitions FOR EACH ROW WHEN ((old.status <> 'draft'::text)) EXECUTE FUNCTION refuse_change_of_published_definition();
CREATE TRIGGER definitions_update_listings AFTER UPDATE ON public.definitions REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION list_updated_definitions();
CREATE TRIGGER definitions_update_yaml_bytes AFTER UPDATE OF yaml ON public.definitions FOR EACH ROW WHEN ((octet_length(old.yaml) <> octet_length(new.yaml))) EXECUTE FUNCTION count_yaml_bytes();
CREATE TRIGGER held_prices_raise_catalog_version AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.held_prices FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_version();
CREATE TRIGGER issue_notes_log_delete_trigger AFTER DELETE ON public.issue_notes REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_deletions('issue-notes');
CREATE TRIGGER issue_notes_log_insert_trigger AFTER INSERT ON public.issue_notes FOR EACH ROW WHEN ((new.created_at <> (now())::timestamp(3) with time zone)) EXECUTE FUNCTION log_tracker_import('issue-notes', 'child');
CREATE TRIGGER issue_notes_log_key_trigger AFTER UPDATE ON public.issue_notes FOR EACH ROW WHEN (((new.id <> old.id) OR (new.project_id <> old.project_id) OR (new.created_at <> old.created_at))) EXECUTE FUNCTION log_tracker_key('issue-notes');
CREATE TRIGGER issue_notes_log_truncate_trigger BEFORE TRUNCATE ON public.issue_notes FOR EACH STATEMENT WHEN ((current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION reject_truncate();
CREATE TRIGGER issue_notes_log_update_trigger AFTER UPDATE ON public.issue_notes REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_updates('issue-notes');
CREATE TRIGGER issue_notes_time_insert_trigger AFTER INSERT ON public.issue_notes FOR EACH ROW WHEN (((new.created_at <> (now())::timestamp(3) with time zone) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER issue_notes_time_update_trigger AFTER UPDATE ON public.issue_notes FOR EACH ROW WHEN (((new.created_at <> old.created_at) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER issues_log_delete_trigger AFTER DELETE ON public.issues REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_deletions('issues');
CREATE TRIGGER issues_log_insert_trigger AFTER INSERT ON public.issues FOR EACH ROW WHEN ((new.created_at <> (now())::timestamp(3) with time zone)) EXECUTE FUNCTION log_tracker_import('issues', 'parent');
CREATE TRIGGER issues_log_key_trigger AFTER UPDATE ON public.issues FOR EACH ROW WHEN (((new.id <> old.id) OR (new.project_id <> old.project_id) OR (new.created_at <> old.created_at))) EXECUTE FUNCTION log_tracker_key('issues');
CREATE TRIGGER issues_log_truncate_trigger BEFORE TRUNCATE ON public.issues FOR EACH STATEMENT WHEN ((current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION reject_truncate();
CREATE TRIGGER issues_log_update_trigger AFTER UPDATE ON public.issues REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_updates('issues');
CREATE TRIGGER issues_log_visibility_trigger AFTER UPDATE ON public.issues FOR EACH ROW WHEN ((((new.deleted_at IS NULL) <> (old.deleted_at IS NULL)) OR ((new.status = ANY (ARRAY['completed'::text, 'wontfix'::text, 'false-positive'::text])) <> (old.status = ANY (ARRAY['completed'::text, 'wontfix'::text, 'false-positive'::text]))) OR (new.created_at <> old.created_at))) EXECUTE FUNCTION log_tracker_visibility('issues');
CREATE TRIGGER issues_time_insert_trigger AFTER INSERT ON public.issues FOR EACH ROW WHEN (((new.created_at <> (now())::timestamp(3) with time zone) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER issues_time_update_trigger AFTER UPDATE ON public.issues FOR EACH ROW WHEN (((new.created_at <> old.created_at) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER model_aliases_raise_catalog_version AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.model_aliases FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_version();
CREATE TRIGGER model_aliases_record_targets AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.model_aliases FOR EACH STATEMENT EXECUTE FUNCTION record_model_alias_targets();
CREATE TRIGGER model_price_corrections_raise_catalog_version AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.model_price_corrections FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_version();
CREATE TRIGGER model_providers_raise_catalog_version AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.model_providers FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_version();
CREATE TRIGGER models_raise_catalog_version AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.models FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_version();
CREATE TRIGGER models_record_price_changes AFTER UPDATE ON public.models FOR EACH ROW WHEN (((old.input_usd_per_mtok IS DISTINCT FROM new.input_usd_per_mtok) OR (old.output_usd_per_mtok IS DISTINCT FROM new.output_usd_per_mtok) OR (old.cache_read_usd_per_mtok IS DISTINCT FROM new.cache_read_usd_per_mtok) OR (old.cache_write_usd_per_mtok IS DISTINCT FROM new.cache_write_usd_per_mtok) OR (old.pricing IS DISTINCT FROM new.pricing))) EXECUTE FUNCTION record_model_price_changes();
CREATE TRIGGER occurrences_log_delete_trigger AFTER DELETE ON public.occurrences REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_deletions('occurrences');
CREATE TRIGGER occurrences_log_insert_trigger AFTER INSERT ON public.occurrences FOR EACH ROW WHEN ((new.created_at <> (now())::timestamp(3) with time zone)) EXECUTE FUNCTION log_tracker_import('occurrences', 'child');
CREATE TRIGGER occurrences_log_key_trigger AFTER UPDATE ON public.occurrences FOR EACH ROW WHEN (((new.id <> old.id) OR (new.project_id <> old.project_id) OR (new.created_at <> old.created_at))) EXECUTE FUNCTION log_tracker_key('occurrences');
CREATE TRIGGER occurrences_log_truncate_trigger BEFORE TRUNCATE ON public.occurrences FOR EACH STATEMENT WHEN ((current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION reject_truncate();
CREATE TRIGGER occurrences_log_update_trigger AFTER UPDATE ON public.occurrences REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_updates('occurrences');
CREATE TRIGGER occurrences_time_insert_trigger AFTER INSERT ON public.occurrences FOR EACH ROW WHEN (((new.created_at <> (now())::timestamp(3) with time zone) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER occurrences_time_update_trigger AFTER UPDATE ON public.occurrences FOR EACH ROW WHEN (((new.created_at <> old.created_at) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER runs_log_delete_trigger AFTER DELETE ON public.runs REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_deletions('runs');
CREATE TRIGGER runs_log_insert_trigger AFTER INSERT ON public.runs FOR EACH ROW WHEN ((new.created_at <> (now())::timestamp(3) with time zone)) EXECUTE FUNCTION log_tracker_import('runs', 'parent');
CREATE TRIGGER runs_log_key_trigger AFTER UPDATE ON public.runs FOR EACH ROW WHEN (((new.id <> old.id) OR (new.project_id <> old.project_id) OR (new.created_at <> old.created_at))) EXECUTE FUNCTION log_tracker_key('runs');
CREATE TRIGGER runs_log_truncate_trigger BEFORE TRUNCATE ON public.runs FOR EACH STATEMENT WHEN ((current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION reject_truncate();
CREATE TRIGGER runs_log_update_trigger AFTER UPDATE ON public.runs REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_updates('runs');
CREATE TRIGGER runs_log_visibility_trigger AFTER UPDATE ON public.runs FOR EACH ROW WHEN ((((new.archived_at IS NULL) <> (old.archived_at IS NULL)) OR (new.created_at <> old.created_at))) EXECUTE FUNCTION log_tracker_visibility('runs');
CREATE TRIGGER runs_time_insert_trigger AFTER INSERT ON public.runs FOR EACH ROW WHEN (((new.created_at <> (now())::timestamp(3) with time zone) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER runs_time_update_trigger AFTER UPDATE ON public.runs FOR EACH ROW WHEN (((new.created_at <> old.created_at) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('created_at');
CREATE TRIGGER status_history_log_delete_trigger AFTER DELETE ON public.status_history REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_deletions('status-history');
CREATE TRIGGER status_history_log_insert_trigger AFTER INSERT ON public.status_history FOR EACH ROW WHEN ((new.changed_at <> (now())::timestamp(3) with time zone)) EXECUTE FUNCTION log_tracker_import('status-history', 'child');
CREATE TRIGGER status_history_log_key_trigger AFTER UPDATE ON public.status_history FOR EACH ROW WHEN (((new.id <> old.id) OR (new.project_id <> old.project_id) OR (new.changed_at <> old.changed_at))) EXECUTE FUNCTION log_tracker_key('status-history');
CREATE TRIGGER status_history_log_truncate_trigger BEFORE TRUNCATE ON public.status_history FOR EACH STATEMENT WHEN ((current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION reject_truncate();
CREATE TRIGGER status_history_log_update_trigger AFTER UPDATE ON public.status_history REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION log_tracker_updates('status-history');
CREATE TRIGGER status_history_time_insert_trigger AFTER INSERT ON public.status_history FOR EACH ROW WHEN (((new.changed_at <> (now())::timestamp(3) with time zone) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('changed_at');
CREATE TRIGGER status_history_time_update_trigger AFTER UPDATE ON public.status_history FOR EACH ROW WHEN (((new.changed_at <> old.changed_at) AND (current_setting('ulr.backfill'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION refuse_wrong_time('changed_at');
