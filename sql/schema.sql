-- Generated from the migrations by `bun run schema`; a test fails when it is stale.

create sequence status_history_seq_seq as bigint;

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
  constraint agent_snapshots_total_effective_tokens_check CHECK ((total_effective_tokens >= 0))
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
  constraint analysis_records_record_id_check CHECK ((char_length(record_id) <= 100)),
  constraint analysis_records_record_type_check CHECK ((char_length(record_type) <= 50)),
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
  constraint analysis_summaries_decision_check CHECK ((char_length(decision) <= 50)),
  constraint analysis_summaries_score_check CHECK (((score > '-Infinity'::double precision) AND (score < 'Infinity'::double precision)))
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
  constraint audit_log_pkey PRIMARY KEY (id),
  constraint audit_log_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'operator'::text, 'service'::text])))
);

create table catalog_syncs (
  id bigint not null generated always as identity,
  started_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone not null,
  source text not null,
  etag text,
  outcome text not null,
  inserted integer not null default 0,
  updated integer not null default 0,
  gone integer not null default 0,
  unchanged integer not null default 0,
  skipped integer not null default 0,
  notes text[] not null default '{}'::text[],
  error text,
  constraint catalog_syncs_pkey PRIMARY KEY (id),
  constraint catalog_syncs_counts_check CHECK ((LEAST(inserted, updated, gone, unchanged, skipped) >= 0)),
  constraint catalog_syncs_error_check CHECK ((((outcome <> 'refused'::text) AND (outcome <> 'failed'::text)) = (error IS NULL))),
  constraint catalog_syncs_finished_at_check CHECK ((finished_at >= started_at)),
  constraint catalog_syncs_outcome_check CHECK ((outcome = ANY (ARRAY['changed'::text, 'unchanged'::text, 'refused'::text, 'failed'::text])))
);

create table export_jobs (
  id uuid not null default gen_random_uuid(),
  org_id uuid not null,
  requested_by uuid not null,
  status text not null default 'queued'::text,
  format text not null,
  as_of timestamp(3) with time zone not null,
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
  constraint export_jobs_pkey PRIMARY KEY (id),
  constraint export_jobs_artifact_check CHECK ((((num_nulls(artifact_key, artifact_file_name, artifact_bytes, artifact_sha256, ready_at, expires_at) % 6) = 0) AND ((status <> 'ready'::text) OR (artifact_key IS NOT NULL)))),
  constraint export_jobs_artifact_sha256_check CHECK ((artifact_sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint export_jobs_error_code_check CHECK ((error_code = ANY (ARRAY['CANCELED'::text, 'BUILD_TIMEOUT'::text, 'BUILD_FAILED'::text, 'ARTIFACT_STORAGE_FAILED'::text, 'ORGANIZATION_GONE'::text]))),
  constraint export_jobs_failed_check CHECK ((((status <> 'failed'::text) = (error_code IS NULL)) AND ((error_code IS NULL) = (error_message IS NULL)))),
  constraint export_jobs_finished_at_check CHECK ((((status <> 'queued'::text) AND (status <> 'running'::text)) = (finished_at IS NOT NULL))),
  constraint export_jobs_format_check CHECK ((format = ANY (ARRAY['ndjson'::text, 'csv'::text]))),
  constraint export_jobs_mailed_at_check CHECK (((mailed_at IS NULL) OR (ready_at IS NOT NULL))),
  constraint export_jobs_progress_check CHECK ((LEAST((attempt)::bigint, (projects_done)::bigint, (projects_total)::bigint, rows_written, bytes_written) >= 0)),
  constraint export_jobs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'ready'::text, 'expired'::text, 'failed'::text])))
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
  constraint issues_failure_domain_check CHECK ((failure_domain = ANY (ARRAY['STR'::text, 'SEM'::text, 'PRA'::text, 'EPI'::text]))),
  constraint issues_failure_severity_code_check CHECK ((failure_severity_code = ANY (ARRAY['C'::text, 'H'::text, 'M'::text, 'L'::text, 'I'::text]))),
  constraint issues_file_path_check CHECK ((char_length(file_path) <= 1000)),
  constraint issues_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
  constraint issues_priority_check CHECK ((priority = ANY (ARRAY['critical'::text, 'high'::text, 'suggested'::text, 'backlog'::text]))),
  constraint issues_severity_check CHECK ((severity = ANY (ARRAY['critical'::text, 'high'::text, 'medium'::text, 'low'::text, 'info'::text]))),
  constraint issues_status_check CHECK ((status = ANY (ARRAY['open'::text, 'completed'::text, 'deferred'::text, 'wontfix'::text, 'merged'::text, 'false-positive'::text, 'observation'::text]))),
  constraint issues_times_seen_check CHECK ((times_seen >= 1)),
  constraint issues_title_check CHECK ((char_length(title) <= 500)),
  constraint issues_type_check CHECK ((char_length(type) <= 50))
);

create table login_attempts (
  subject_hash bytea not null,
  attempted_at timestamp(3) with time zone[] not null,
  last_attempt_at timestamp(3) with time zone not null,
  constraint login_attempts_pkey PRIMARY KEY (subject_hash),
  constraint login_attempts_subject_hash_check CHECK ((octet_length(subject_hash) = 32))
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
  changed_at timestamp(3) with time zone not null default now(),
  sync_id bigint not null,
  constraint model_price_changes_pkey PRIMARY KEY (id),
  constraint model_price_changes_field_check CHECK ((field = ANY (ARRAY['input'::text, 'output'::text, 'cacheRead'::text, 'cacheWrite'::text]))),
  constraint model_price_changes_value_check CHECK ((old_value IS DISTINCT FROM new_value))
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
  description text not null,
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
  constraint models_pkey PRIMARY KEY (provider, model_id),
  constraint models_cost_check CHECK ((((input_usd_per_mtok IS NULL) = (output_usd_per_mtok IS NULL)) AND ((input_usd_per_mtok IS NOT NULL) OR (num_nonnulls(cache_read_usd_per_mtok, cache_write_usd_per_mtok, pricing) = 0)) AND (LEAST(input_usd_per_mtok, output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_usd_per_mtok) >= (0)::numeric))),
  constraint models_limits_check CHECK ((LEAST(context_tokens, output_tokens) > 0)),
  constraint models_model_id_check CHECK ((model_id <> ''::text)),
  constraint models_name_check CHECK ((name <> ''::text)),
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
  constraint occurrences_description_check CHECK ((char_length(description) <= 10000))
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
  constraint organizations_pkey PRIMARY KEY (id),
  constraint organizations_slug_key UNIQUE (slug),
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
  constraint runs_average_score_check CHECK (((average_score >= (0)::double precision) AND (average_score <= (100)::double precision))),
  constraint runs_definition_name_check CHECK ((char_length(definition_name) <= 100)),
  constraint runs_definition_type_check CHECK ((definition_type = ANY (ARRAY['agent'::text, 'command'::text, 'workflow'::text, 'pipeline'::text]))),
  constraint runs_definition_version_check CHECK ((char_length(definition_version) <= 50)),
  constraint runs_idempotency_key_check CHECK ((char_length(idempotency_key) <= 100)),
  constraint runs_raw_markdown_check CHECK ((char_length(raw_markdown) <= 500000)),
  constraint runs_run_number_check CHECK ((run_number > 0)),
  constraint runs_workflow_type_check CHECK ((char_length(workflow_type) <= 100))
);

create table schema_migrations (
  name text not null,
  checksum text not null,
  applied_at timestamp(3) with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (name)
);

create table sessions (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  token_hash bytea not null,
  expires_at timestamp(3) with time zone not null,
  revoked_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_token_hash_key UNIQUE (token_hash),
  constraint sessions_token_hash_check CHECK ((octet_length(token_hash) = 32))
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
  constraint status_history_reason_check CHECK ((char_length(reason) <= 1000)),
  constraint status_history_transition_type_check CHECK ((transition_type = ANY (ARRAY['change'::text, 'undo'::text])))
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
  constraint users_pkey PRIMARY KEY (id),
  constraint users_username_key UNIQUE (username),
  constraint users_email_check CHECK (((email ~~ '_%@_%'::text) AND (char_length(email) <= 320))),
  constraint users_platform_role_check CHECK ((platform_role = ANY (ARRAY['user'::text, 'admin'::text]))),
  constraint users_username_check CHECK ((username ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text))
);

alter sequence status_history_seq_seq owned by status_history.seq;

CREATE INDEX agent_snapshots_project_id_created_at_id_idx ON public.agent_snapshots USING btree (project_id, created_at, id);
CREATE INDEX agent_snapshots_project_id_run_id_idx ON public.agent_snapshots USING btree (project_id, run_id, created_at, id);
CREATE INDEX analysis_records_project_id_created_at_id_idx ON public.analysis_records USING btree (project_id, created_at, id);
CREATE INDEX analysis_records_project_id_run_id_idx ON public.analysis_records USING btree (project_id, run_id, created_at, id);
CREATE INDEX analysis_summaries_project_id_created_at_id_idx ON public.analysis_summaries USING btree (project_id, created_at, id);
CREATE INDEX analysis_summaries_project_id_run_id_idx ON public.analysis_summaries USING btree (project_id, run_id, created_at, id);
CREATE INDEX api_keys_org_id_idx ON public.api_keys USING btree (org_id) WHERE (org_id IS NOT NULL);
CREATE INDEX api_keys_user_id_idx ON public.api_keys USING btree (user_id, created_at);
CREATE INDEX audit_log_org_id_idx ON public.audit_log USING btree (org_id, occurred_at);
CREATE INDEX audit_log_subject_idx ON public.audit_log USING btree (subject_type, subject_id, occurred_at);
CREATE INDEX catalog_syncs_outcome_id_idx ON public.catalog_syncs USING btree (outcome, id);
CREATE INDEX export_jobs_expires_at_id_idx ON public.export_jobs USING btree (expires_at, id) WHERE (status = 'ready'::text);
CREATE INDEX export_jobs_finished_at_idx ON public.export_jobs USING btree (finished_at);
CREATE UNIQUE INDEX export_jobs_org_id_active_key ON public.export_jobs USING btree (org_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX export_jobs_org_id_created_at_id_idx ON public.export_jobs USING btree (org_id, created_at, id);
CREATE INDEX issue_notes_project_id_created_at_id_idx ON public.issue_notes USING btree (project_id, created_at, id);
CREATE INDEX issue_notes_project_id_issue_id_idx ON public.issue_notes USING btree (project_id, issue_id, created_at, id);
CREATE INDEX issues_deleted_idx ON public.issues USING btree (project_id, id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX issues_project_id_created_at_id_idx ON public.issues USING btree (project_id, created_at, id) INCLUDE (deleted_at);
CREATE INDEX login_attempts_last_attempt_at_idx ON public.login_attempts USING btree (last_attempt_at);
CREATE INDEX model_price_changes_provider_model_id_changed_at_idx ON public.model_price_changes USING btree (provider, model_id, changed_at);
CREATE INDEX model_price_changes_sync_id_idx ON public.model_price_changes USING btree (sync_id);
CREATE INDEX occurrences_project_id_created_at_id_idx ON public.occurrences USING btree (project_id, created_at, id);
CREATE INDEX occurrences_project_id_issue_id_idx ON public.occurrences USING btree (project_id, issue_id, created_at, id);
CREATE INDEX occurrences_project_id_run_id_idx ON public.occurrences USING btree (project_id, run_id, created_at, id);
CREATE INDEX organization_members_user_id_idx ON public.organization_members USING btree (user_id);
CREATE INDEX runs_archived_idx ON public.runs USING btree (project_id, id) WHERE (archived_at IS NOT NULL);
CREATE INDEX runs_project_id_created_at_id_idx ON public.runs USING btree (project_id, created_at, id);
CREATE INDEX sessions_ended_at_idx ON public.sessions USING btree (LEAST(expires_at, revoked_at));
CREATE INDEX sessions_user_id_idx ON public.sessions USING btree (user_id);
CREATE INDEX status_history_project_id_changed_at_id_idx ON public.status_history USING btree (project_id, changed_at, id);
CREATE INDEX status_history_project_id_issue_id_idx ON public.status_history USING btree (project_id, issue_id, changed_at, id);
CREATE UNIQUE INDEX users_email_key ON public.users USING btree (lower(email));

alter table agent_snapshots add constraint agent_snapshots_project_id_run_id_fkey FOREIGN KEY (project_id, run_id) REFERENCES runs(project_id, id);
alter table analysis_records add constraint analysis_records_project_id_run_id_fkey FOREIGN KEY (project_id, run_id) REFERENCES runs(project_id, id);
alter table analysis_summaries add constraint analysis_summaries_project_id_run_id_fkey FOREIGN KEY (project_id, run_id) REFERENCES runs(project_id, id);
alter table api_keys add constraint api_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id) ON DELETE CASCADE;
alter table api_keys add constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table issue_notes add constraint issue_notes_project_id_issue_id_fkey FOREIGN KEY (project_id, issue_id) REFERENCES issues(project_id, id);
alter table issues add constraint issues_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);
alter table model_price_changes add constraint model_price_changes_provider_model_id_fkey FOREIGN KEY (provider, model_id) REFERENCES models(provider, model_id);
alter table model_price_changes add constraint model_price_changes_sync_id_fkey FOREIGN KEY (sync_id) REFERENCES catalog_syncs(id);
alter table models add constraint models_provider_fkey FOREIGN KEY (provider) REFERENCES model_providers(id);
alter table occurrences add constraint occurrences_project_id_issue_id_fkey FOREIGN KEY (project_id, issue_id) REFERENCES issues(project_id, id);
alter table occurrences add constraint occurrences_project_id_run_id_fkey FOREIGN KEY (project_id, run_id) REFERENCES runs(project_id, id);
alter table organization_members add constraint organization_members_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id) ON DELETE CASCADE;
alter table organization_members add constraint organization_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table projects add constraint projects_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id);
alter table runs add constraint runs_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);
alter table sessions add constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table status_history add constraint status_history_project_id_issue_id_fkey FOREIGN KEY (project_id, issue_id) REFERENCES issues(project_id, id);
