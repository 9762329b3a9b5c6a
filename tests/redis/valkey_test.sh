#!/usr/bin/env bash
# valkey_test.sh DIFFERENTIAL ROOT: the same on Valkey, if it can be had. Without it, or without a network to fetch it,
# this is skipped.
set -euo pipefail
differential=$1 root=$2
server=$(timeout 120 "$root/scripts/valkey") || { echo 'skipped: valkey-server cannot be had here'; exit 77; }
"$differential" --commands 5000 --seed 100001 --server "$server"
