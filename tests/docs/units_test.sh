#!/usr/bin/env bash
# units_test.sh ROOT: systemd understands the units of packaging/, and rates the agent's as docs/operating.md says. Skipped
# where there is no systemd-analyze.
set -euo pipefail
root=$1
type -P systemd-analyze >/dev/null || { echo 'skipped: no systemd-analyze here'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for unit in "$root"/packaging/*.service "$root"/packaging/examples/*.{service,timer}; do
    # The programs that the units start need not be installed.
    sed -E 's|^(ExecStart=)/usr/local/bin/baton |\1/bin/true |' "$unit" >"$work/${unit##*/}"
done
said=$(systemd-analyze verify "$work"/*.service "$work"/*.timer 2>&1)
[[ -z $said ]] || { echo "systemd-analyze verify says: $said"; exit 1; }
rating=$(sed -nE 's/.*`systemd-analyze security --offline=true` rates it ([0-9])\.([0-9])\..*/\1\2/p' "$root/docs/operating.md")
[[ -n $rating ]] || { echo 'docs/operating.md gives no rating'; exit 1; }
systemd-analyze security --offline=true --threshold="$rating" "$work/baton-agent.service" >"$work/rating" ||
    { tail -1 "$work/rating"; echo "that is worse than docs/operating.md says"; exit 1; }
