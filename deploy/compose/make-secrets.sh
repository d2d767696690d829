#!/bin/sh
# Creates the passwords, URLs and certificate for compose.yaml unless they exist. The folder is private. The files are readable,
# because Compose mounts them for users with other ids. To use your own certificate, write secrets/tls.crt and secrets/tls.key.
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
[ -s secrets/tls.key ] || openssl ecparam -name prime256v1 -genkey -noout -out secrets/tls.key
[ -s secrets/tls.crt ] || openssl req -x509 -new -key secrets/tls.key -days 365 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -out secrets/tls.crt
chmod 644 secrets/*
