-- A row per version. Organization, type and name are the line's, repeated so that lists need no join to filter by them.
create table definitions (
  id uuid primary key default gen_random_uuid(),
  line_id uuid not null,
  org_id uuid not null,
  type text not null,
  name text not null,
  version text not null,
  -- 1.10.0 is later than 1.9.0
  version_major bigint not null generated always as (split_part(version, '.', 1)::bigint) stored,
  version_minor bigint not null generated always as (split_part(version, '.', 2)::bigint) stored,
  version_patch bigint not null generated always as (split_part(version, '.', 3)::bigint) stored,
  status text not null default 'draft',
  visibility text not null default 'private',
  tier text not null default 'user',
  yaml text not null,
  -- sha256: and hex, over the parsed document written again with sorted keys
  hash text not null,
  display_name text not null,
  description text not null default '',
  domain text not null default 'general',
  subdomain text,
  agent_type text,
  -- as the document names its author
  author text,
  -- who wrote this version
  author_id uuid not null,
  provenance jsonb,
  authorship_type text generated always as (provenance ->> 'authorshipType') stored,
  tags text[] not null default '{}',
  change_summary text,
  -- against the version before it
  change_type text not null,
  -- what a coding agent loads; null when the document cannot be rendered, which translation_error tells
  runtime_md text,
  prompt_hash text,
  translator_version text,
  translation_error jsonb,
  -- of the safety scan; null before it is published
  risk_profile jsonb,
  deprecation_reason text,
  -- a name, or name@version, of the same type
  successor text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  published_at timestamptz(3),
  deprecated_at timestamptz(3),
  archived_at timestamptz(3),
  constraint definitions_line_id_version_key unique (line_id, version_major, version_minor, version_patch),
  constraint definitions_line_id_fkey foreign key (line_id, org_id, type, name)
    references definition_lines (id, org_id, type, name),
  constraint definitions_author_id_fkey foreign key (author_id) references users (id),
  constraint definitions_version_check check (
    version ~ '^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$' and char_length(version) <= 20
  ),
  constraint definitions_status_check check (status in ('draft', 'published', 'deprecated', 'archived')),
  constraint definitions_visibility_check check (visibility in ('private', 'unlisted', 'public')),
  constraint definitions_tier_check check (tier in ('user', 'org', 'pro')),
  constraint definitions_domain_check check (
    domain in (
      'software', 'security', 'compliance', 'legal', 'medical', 'financial', 'scientific', 'content', 'general',
      'career', 'business', 'education', 'documentation', 'cognitive-lens'
    )
  ),
  constraint definitions_agent_type_check check (
    agent_type in ('validator', 'executor', 'analyst', 'generator', 'explorer', 'forecaster')
  ),
  constraint definitions_authorship_type_check check (
    authorship_type in ('human', 'agent', 'collaborative', 'automated')
  ),
  constraint definitions_change_type_check check (change_type in ('major', 'minor', 'patch')),
  constraint definitions_yaml_check check (octet_length(yaml) <= 153600),
  constraint definitions_hash_check check (
    hash ~ '^sha256:[0-9a-f]{64}$' and prompt_hash ~ '^sha256:[0-9a-f]{64}$'
  ),
  constraint definitions_runtime_check check (
    num_nulls(runtime_md, prompt_hash, translator_version) % 3 = 0
    and (runtime_md is null or translation_error is null)
  ),
  constraint definitions_published_at_check check ((status <> 'draft') = (published_at is not null)),
  constraint definitions_deprecated_at_check check (
    (status <> 'draft' and status <> 'published') = (deprecated_at is not null)
    and (deprecated_at is null) = (deprecation_reason is null)
    and (deprecated_at is not null or successor is null)
  ),
  constraint definitions_archived_at_check check ((status <> 'archived') = (archived_at is null))
);

create index definitions_author_id_idx on definitions (author_id);
