#!/usr/bin/env bash
# reproducible.sh VERSION DIRECTORY [MODULE...]: publishes again what tools/publish.sh wrote to the
# directory, elsewhere, in another time zone and with another umask, and fails if a file differs.
# Signatures, and the times in maven-metadata.xml, differ by nature. Run by ./dev publish --check.
set -euo pipefail
cd "$(dirname "$0")/.."
again=$(mktemp -d)
trap 'rm -rf "$again"' EXIT
(umask 077 && TZ=Pacific/Kiritimati tools/publish.sh "$1" "$again/published/again" "${@:3}")
files() { find . -name '*.jar' -o -name '*.pom' -o -name '*.json' | sort; }
first=$(cd "$2/repository" && files)
second=$(cd "$again/published/again/repository" && files)
diff <(echo "$first") <(echo "$second") >&2 || { echo "reproducible: other files" >&2; exit 1; }
differing=$(for each in $first; do
  cmp -s "$2/repository/$each" "$again/published/again/repository/$each" || echo "$each"
done)
[ -z "$differing" ] || { printf 'reproducible: not the same twice: %s\n' $differing >&2; exit 1; }
echo "reproducible: $(wc -w <<< "$first") files are the same in a second build"
