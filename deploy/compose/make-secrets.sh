#!/bin/sh
# Makes the passwords and URLs that compose.yaml names, once. The folder is private; the files are readable, because Compose shows
# them to users of other numbers.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
for role in postgres owner app; do
  file=secrets/${role}_password
  [ -s "$file" ] || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > "$file"
done
for role in owner app; do
  [ -s "secrets/${role}_url" ] || echo "postgres://ulr_$role:$(cat "secrets/${role}_password")@postgres:5432/ulr" > "secrets/${role}_url"
done
chmod 444 secrets/*
