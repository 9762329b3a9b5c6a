#!/usr/bin/env bash
# valkey_test.sh ROOT COMMAND…: runs the command with a Valkey in BATON_REDIS_SERVER, if one can be had. Without it, or
# without a network to fetch it, this is skipped.
set -euo pipefail
root=$1
shift
BATON_REDIS_SERVER=$(timeout 120 "$root/scripts/valkey") || { echo 'skipped: valkey-server cannot be had here'; exit 77; }
export BATON_REDIS_SERVER
exec "$@"
