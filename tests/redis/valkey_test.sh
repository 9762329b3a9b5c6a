#!/usr/bin/env bash
# valkey_test.sh ROOT COMMAND…: runs the command with the path of Valkey in BATON_REDIS_SERVER. Skipped if Valkey is not
# installed and cannot be fetched.
set -euo pipefail
root=$1
shift
BATON_REDIS_SERVER=$(timeout 120 "$root/scripts/valkey") || { echo 'skipped: valkey-server cannot be had here'; exit 77; }
export BATON_REDIS_SERVER
exec "$@"
