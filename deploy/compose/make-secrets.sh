#!/bin/sh
# Makes the passwords that compose.yaml names, once. The folder is private; the files are readable, because Compose shows
# them to users of other numbers.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
for name in postgres_password owner_password app_password; do
  [ -s "secrets/$name" ] || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > "secrets/$name"
  chmod 444 "secrets/$name"
done
