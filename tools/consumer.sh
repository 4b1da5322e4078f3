#!/usr/bin/env bash
# consumer.sh REPOSITORY VERSION: builds samples/engine-maven from what tools/publish.sh wrote, runs it,
# and compares what it depends on to the list in its README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/java-and-maven.sh
repository=$(cd "$1" && pwd) version=$2
project=$(mktemp -d)
forget() { # an earlier build of this version
  rm -rf "${HOME:?}"/.m2/repository/dev/quipu/*/"$version"
}
trap 'rm -rf "$project"; forget' EXIT
forget
cp -r samples/engine-maven/. "$project"
maven -q -f "$project/pom.xml" "-Dquipu.repository=file://$repository" "-Dquipu.version=$version" \
  compile dependency:tree dependency:build-classpath \
  "-DoutputFile=$project/tree" "-Dmdep.outputFile=$project/path"
printed=$("$JAVA_HOME/bin/java" -cp "$project/target/classes:$(cat "$project/path")" org.example.Shop "$project/data")
[ "$printed" = "$(printf '3\n3')" ] || { echo "consumer: printed $printed, not 3 twice" >&2; exit 1; }
sed "1d; s/:$version:/:0.1.0:/" "$project/tree" | diff - <(sed -n '/^```tree$/,/^```$/p' samples/engine-maven/README.md | sed '1d;$d') >&2 ||
  { echo "consumer: samples/engine-maven/README.md shows another tree" >&2; exit 1; }
echo "consumer: 3 counted exactly once from $repository"
