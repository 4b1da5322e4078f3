#!/usr/bin/env bash
# Prints in one line how many tests were skipped for want of a component, from the reports of
# surefire and failsafe that are newer than a file, and with CI=true fails if CI must have it.
# Usage: tools/skipped.sh [ROOT [NEWER-THAN]]
set -euo pipefail
components=$(dirname "$(readlink -f "$0")")/skipped-components.txt
root=${1:-.}
newer=()
[ $# -lt 2 ] || newer=(-newer "$2")
# One line for each skipped test: its class and the reason.
skips=$(find "$root" -path '*/target/*-reports/TEST-*.xml' "${newer[@]}" -exec awk '
  /<testcase / { class = $0; sub(/.* classname="/, "", class); sub(/".*/, "", class) }
  /<skipped/ { print class ": " $0 }' {} +)
lines=()
failed=0
while IFS='|' read -r inCi component reason; do
  [[ $inCi = fail || $inCi = skip ]] || continue
  found=$(grep -E "$reason" <<< "$skips" || true)
  [ -n "$found" ] || continue
  suites=$(cut -d: -f1 <<< "$found" | sed 's/.*\.//' | sort -u | paste -sd' ')
  lines+=("$component: $(wc -l <<< "$found") ($suites)")
  [ "$inCi" != fail ] || failed=1
done < "$components"
if [ ${#lines[@]} = 0 ]; then
  echo "skipped for want of a component: none"
  exit 0
fi
text=$(printf '; %s' "${lines[@]}")
echo "skipped for want of a component: ${text:2}"
if [ "${CI:-}" = true ] && [ $failed = 1 ]; then
  echo "check: in CI these must be installed (./dev deps), except those with 'skip' in tools/skipped-components.txt" >&2
  exit 1
fi
