#!/usr/bin/env bash
# Generates docs/reference/techniques.md, docs/reference/cli.md and a page per technique from the
# built server and the sources. Run by ./dev docs; CI checks it.
set -euo pipefail
cd "$(dirname "$0")/.."

table=$(./quipu techniques --markdown)
printf '# Techniques\n\nMade by `./dev docs`.\n\n%s\n' "$table" > docs/reference/techniques.md

# Each technique's page is an essay at the head of its file: the first, or the one that is numbered.
for name in AtomicAdd:atomic-add Optimistic:optimistic \
  Optimistic:optimistic-with-history:2 RequestTokens:request-token MarkerItem:marker-item ItemCollection:item-collection \
  TokenSet:token-set Sharded:sharded Locks:locks CacheFirst:cache-first DurableFirst:durable-first \
  OnlineRing:online-ring OnlineExact:online-exact OnlineApproximate:online-approximate \
  ViewCounter:unique-views SqsConsumer:sqs-consumer HitLog:hit-log VersionTree:version-tree SequenceOfRecords:sequence-of-records \
  UniqueValues:unique-values RevisionLog:revision-log RangeJob:range-job \
  RegionalCounters:regional-counters RegionalCollection:regional-collection; do
  IFS=: read -r class title number <<< "$name"
  page=docs/concepts/$title.md
  {
    printf '# %s\n\nFrom `%s.java`, made by `./dev docs`.\n\n```text\n' "$title" "$class"
    find techniques/src/main sketches/src/main ingest/src/main -name "$class.java" \
      -exec awk -v number="${number:-1}" '
        /^ \*\/$/ { inside = 0 }
        inside && essays == number { sub(/^ \* ?/, ""); print }
        /^\/\*$/ { inside = 1; essays++ }' {} +
    printf '```\n'
  } > "$page"
done

{
  printf '# Command line\n\nMade by `./dev docs`.\n\n```text\n'
  COLUMNS=100 ./quipu --help
  printf '```\n'
  for command in serve commands add set reset delete get list outcome views online next import ingest export check salvage techniques stores \
    schema adopt repair explain simpledb-local verify advise regions \
    completion version; do
    printf '\n## %s\n\n```text\n' "$command"
    COLUMNS=100 ./quipu "$command" --help
    [ "$command" != ingest ] || { echo; COLUMNS=100 ./quipu ingest sqs --help; }
    printf '```\n'
  done
} > docs/reference/cli.md
