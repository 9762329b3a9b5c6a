#!/usr/bin/env bash
# Tests that code_check.sh finds code that is in no example.
set -euo pipefail
check=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir "$work/examples"
printf '%s\n' '#include <a>' '' 'int main() {' '    one();' '    two();' '}' >"$work/examples/a.cpp"
page() { printf '%s\n' 'Text.' '```cpp' "$@" '```' >"$work/page.md"; }

page '#include <a>' '' 'one();' 'two();'
"$check" "$work/page.md" "$work/examples"
for wrong in 'one();' 'one(); ' 'on' 'three();'; do
    page '#include <a>' '' "$wrong" 'three();'
    if "$check" "$work/page.md" "$work/examples" >/dev/null; then
        printf 'the check did not see that "%s" and "three();" are in no example\n' "$wrong"
        exit 1
    fi
done
