#!/usr/bin/env bash
# The time to start the server and to read a counter, relative to java -version; writes
# docs/reference/benchmarks-start.md. Run by ./dev bench start [RUNS].
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
. tools/java-and-maven.sh
runs=${1:-11}
[[ $runs =~ ^[1-9][0-9]{0,2}$ ]] && [ "$runs" -ge 11 ] ||
  { echo "bench start: RUNS must be a number from 11 to 999" >&2; exit 2; }
[ -n "${EPOCHREALTIME:-}" ] || { echo "bench start: bash of at least version 5 is needed" >&2; exit 6; }
page=docs/reference/benchmarks-start.md
export JAVA_HOME
export LC_ALL=C # a point in EPOCHREALTIME
unset QUIPU_SERVER QUIPU_TOKEN
mkdir -p target
directory=$(mktemp -d "$PWD/target/bench-start.XXXXXX")
pid=''
trap '[ -z "$pid" ] || kill "$pid" 2> /dev/null || true; rm -rf "$directory"' EXIT

now() { # sets time, in microseconds
  time=${EPOCHREALTIME/./}
}

# Sets url; returns when the server has printed its ready line.
start() {
  local line output=''
  exec 8< <(exec ./quipu serve --data "$directory/data" --http 0 2>&1)
  pid=$!
  while IFS= read -r line <&8; do
    if [[ $line =~ ^quipu\ is\ ready:\ (http[^,]*), ]]; then
      url=${BASH_REMATCH[1]}
      return
    fi
    output+=$line$'\n'
  done
  printf %s "$output" >&2
  echo "bench start: the server ended before it was ready" >&2
  exit 6
}

stop() {
  kill "$pid"
  wait "$pid" || true
  exec 8<&-
  pid=''
}

# The middle one of the times, in milliseconds, and the least and the greatest of them.
summary() { # FILE
  sort -n "$1" | awk '{ t[NR] = $1 / 1000 }
    END { m = (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2
      printf "%.0f %.0f %.0f", m, t[1], t[NR] }'
}

ratio() { # FILE: the middle of the ratios to java -version of the same round
  paste "$1" "$directory/java" | awk '{ print $1 / $2 }' | sort -n | awk '{ t[NR] = $1 }
    END { printf "%.1f", (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2 }'
}

start # builds if needed, and creates the data
./quipu add --server "$url" hits 1 > /dev/null
stop
load=$(cut -d ' ' -f 1 /proc/loadavg)
for ((round = 0; round < runs; round++)); do
  now; from=$time
  "$JAVA_HOME/bin/java" -version 2> /dev/null
  now; echo $((time - from)) >> "$directory/java"
  now; from=$time
  start
  now; echo $((time - from)) >> "$directory/serve"
  export QUIPU_SERVER=$url
  for kind in first again; do
    now; from=$time
    value=$(./quipu get hits)
    now; echo $((time - from)) >> "$directory/$kind"
    [[ $value =~ (^|[^0-9])1($|[^0-9]) ]] ||
      { echo "bench start: hits is $value instead of 1" >&2; exit 1; }
  done
  unset QUIPU_SERVER
  stop
done
after=$(cut -d ' ' -f 1 /proc/loadavg)

row() { # NAME FILE
  local values
  read -r -a values <<< "$(summary "$directory/$2")"
  echo "| $1 | ${values[0]} ms | ${values[1]}–${values[2]} ms | $(ratio "$directory/$2") |"
}
cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
version=$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$JAVA_HOME/release")
{
  cat << TEXT
# Benchmark of the start

The time until \`./quipu serve\` has printed its ready line, and the time of \`./quipu get NAME\`,
relative to \`java -version\` of the same JDK, which does no work of its own. Repeat it with
\`./dev bench start\`; \`./dev bench start 31\` takes 31 rounds.

Measured on $(date +%F): $cpu, $(nproc) cores, Linux $(uname -r), Java $version. Load average
$load before and $after after the rounds, to which the benchmark itself adds: repeat it on an idle
machine, because other processes lengthen all times.

Each of $runs rounds takes one time of each, one after the other. A ratio is the median of those to
\`java -version\` in the same round. The server starts on a data directory that exists, with one
counter; it has been built, and so have the archives of its classes.

Targets: a read is at most 4 times \`java -version\` once the server has answered a first request, and
the server is ready within 6 times.

| Command | Median | Least–greatest | Ratio |
| --- | --- | --- | --- |
TEXT
  row '`java -version`' java
  row '`./quipu get NAME`, first request to the server' first
  row '`./quipu get NAME`, second request' again
  row '`./quipu serve`, until ready' serve
} > "$directory/page"
cp "$directory/page" "$page"
cat "$page"
