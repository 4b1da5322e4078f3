#!/usr/bin/env bash
# consumer.sh REPOSITORY VERSION: uses what tools/publish.sh wrote as a project outside this repository
# does. Builds samples/engine-maven and runs it, starts a server by JBang with jbang-catalog.json, and runs
# samples/client-maven against it. Compares what each depends on to the tree in its README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/java-and-maven.sh
repository=$(cd "$1" && pwd) version=$2
directory=$(mktemp -d)
server=
forget() { # an earlier build of this version
  rm -rf "${HOME:?}"/.m2/repository/dev/quipu/*/"$version"
}
finish() {
  [ -z "$server" ] || kill "$server" 2> /dev/null || true
  rm -rf "$directory"
  forget
}
trap finish EXIT
forget

fail() {
  echo "consumer: $*" >&2
  exit 1
}

build() { # SAMPLE
  cp -r "samples/$1" "$directory/$1"
  maven -q -f "$directory/$1/pom.xml" "-Dquipu.repository=file://$repository" "-Dquipu.version=$version" \
    compile dependency:tree dependency:build-classpath \
    "-DoutputFile=$directory/$1/tree" "-Dmdep.outputFile=$directory/$1/path"
  sed "1d; s/:$version:/:0.1.0:/" "$directory/$1/tree" |
    diff - <(sed -n '/^```tree$/,/^```$/p' "samples/$1/README.md" | sed '1d;$d') >&2 ||
    fail "samples/$1/README.md shows another tree than mvn dependency:tree, whose lines begin with <"
}

run() { # SAMPLE CLASS ARGUMENT
  local printed
  printed=$("$JAVA_HOME/bin/java" -cp "$directory/$1/target/classes:$(cat "$directory/$1/path")" \
    "org.example.$2" "$3" 2> "$directory/errors")
  [ "$printed" = "$(printf '3\n3')" ] || fail "samples/$1 printed $printed, not 3 twice: $(cat "$directory/errors")"
}

# What the script jbang does: JBang prints the command that it runs, and exits with 255.
jbang() { # ARGUMENT...
  local command
  command=$(JBANG_DIR=$directory/jbang JBANG_REPO=$directory/m2 "$JAVA_HOME/bin/java" \
    -cp "$(cat "$directory/jbang-path")" dev.jbang.Main run --repos "file://$repository" "$@") || [ $? = 255 ]
  eval "exec $command"
}

fetch_jbang() {
  mkdir "$directory/catalog"
  sed "s/:0\.1\.0@/:$version@/" jbang-catalog.json > "$directory/catalog/jbang-catalog.json"
  maven -q -f tools/jbang.pom.xml dependency:build-classpath "-Dmdep.outputFile=$directory/jbang-path"
}

serve() { # sets served to the URL of the server
  local url=''
  (jbang "quipu@$directory/catalog" serve --data "$directory/served" --http 0) > "$directory/log" 2>&1 &
  server=$!
  while [ -z "$url" ]; do
    kill -0 "$server" 2> /dev/null || fail "JBang did not start the server: $(cat "$directory/log")"
    sleep 0.1
    url=$(sed -n 's/^quipu is ready: \(http[^,]*\),.*/\1/p' "$directory/log")
  done
  ! grep -q WARNING "$directory/log" || fail "the server started by JBang warns: $(cat "$directory/log")"
  served=$url
}

build engine-maven
run engine-maven Shop "$directory/data"
echo "consumer: 3 counted exactly once on the engine from $repository"

fetch_jbang
printed=$(jbang "quipu@$directory/catalog" version 2> /dev/null)
[ "$printed" = "quipu $version" ] || fail "JBang printed '$printed', not 'quipu $version'"
build client-maven
serve
run client-maven Views "$served"
echo "consumer: 3 counted exactly once on a server that JBang started"
