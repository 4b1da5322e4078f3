#!/usr/bin/env bash
# Prints the tests that failed, with the first line of why, from the reports of surefire and
# failsafe that are newer than a file: the end of a long log says what is wrong.
# Usage: tools/failed.sh [ROOT [NEWER-THAN]]
set -euo pipefail
root=${1:-.}
newer=()
[ $# -lt 2 ] || newer=(-newer "$2")
find "$root" -path '*/target/*-reports/TEST-*.xml' "${newer[@]}" -exec awk '
  /<testcase / {
    test = $0; sub(/.* name="/, "", test); sub(/".*/, "", test)
    class = $0; sub(/.* classname="/, "", class); sub(/".*/, "", class)
  }
  /<(failure|error)[ >]/ {
    why = $0; sub(/.*message="/, "", why); sub(/" type=.*/, "", why)
    print "failed: " class "." test ": " substr(why, 1, 300)
  }' {} + | sed 's/&#10;/ /g; s/&quot;/"/g; s/&apos;/'"'"'/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'
