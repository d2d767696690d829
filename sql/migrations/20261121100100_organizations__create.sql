create table organizations (
  id uuid primary key default gen_random_uuid(),
  slug text not null,
  name text not null,
  description text,
  website_url text,
  is_personal boolean not null default false,
  subscription_tier text not null default 'free',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint organizations_slug_key unique (slug),
  constraint organizations_slug_check check (slug ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  constraint organizations_name_check check (char_length(name) between 1 and 200),
  constraint organizations_subscription_tier_check
    check (subscription_tier in ('free', 'hobbyist', 'plus', 'pro', 'enterprise'))
);
