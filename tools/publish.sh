#!/usr/bin/env bash
# publish.sh VERSION DIRECTORY: builds the last commit under this version, and publishes it to a Maven
# repository in the directory, complete by the rules of Maven Central and signed by a key that is
# made for it. Run by ./dev publish --dry-run.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/java-and-maven.sh
version=$1 directory=$2
modules=(bom core techniques engine sketches ingest client micrometer spring/{autoconfigure,starter}
  stores/{postgresql,redis,memcached,dynamodb,simpledb,entity,datastore,appengine}
  simulation simpledb-server testkit server
  testservers testservers/elasticmq) # not published: the SBOM tool resolves tests, too

[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
  { echo "publish: the version is '$version'; it must be like 1.2.3" >&2; exit 2; }
rm -rf "$directory"
mkdir -p "$directory/source"
directory=$(cd "$directory" && pwd)
git archive HEAD | tar -x -C "$directory/source"
cd "$directory/source"
find . -name pom.xml -exec sed -i "s/0\.1\.0-SNAPSHOT/$version/" {} +

# The key lives in a directory of its own, whose path is short: its agent listens on a socket there.
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
gpg --batch --quiet --passphrase '' --quick-gen-key 'Quipu dry run <dry-run@quipu.invalid>' rsa3072 sign never
gpg --batch --armor --export > "$directory/key.asc"

all=$(IFS=, && echo "${modules[*]}")
maven -q -P "launcher,release,!format" -pl "$all" deploy -Dgpg.keyname=dry-run@quipu.invalid \
  -DaltDeploymentRepository="dry-run::file://$directory/repository"
echo "publish: $directory/repository"
