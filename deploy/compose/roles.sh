#!/bin/bash
# Creates the roles and the database from docs/operating.md when PostgreSQL initializes its volume.
set -euo pipefail
psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" \
  --set owner_password="$(cat "${SECRETS:-/run/secrets}/owner_password")" \
  --set app_password="$(cat "${SECRETS:-/run/secrets}/app_password")" <<'SQL'
create role ulr_owner login password :'owner_password';
create role ulr_app login password :'app_password';
grant pg_read_all_stats to ulr_app, ulr_owner;
create database ulr owner ulr_owner;
SQL
