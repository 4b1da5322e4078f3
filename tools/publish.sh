#!/usr/bin/env bash
# publish.sh VERSION DIRECTORY [MODULE...]: builds the last commit under this version, publishes it to a
# Maven repository in the directory, signed by a key that is made for it, and checks that it obeys the
# rules of Maven Central. Modules are given with what they depend on; without any, the reactor publishes
# all but those with maven.deploy.skip. Run by ./dev publish --dry-run.
set -euo pipefail
umask 022 # jars contain permissions
cd "$(dirname "$0")/.."
. tools/java-and-maven.sh
version=$1 directory=$2
modules=("${@:3}")
[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
  { echo "publish: the version is '$version'; it must be like 1.2.3" >&2; exit 2; }
command -v gpg > /dev/null || { echo "publish: gpg is missing; ./dev deps installs it" >&2; exit 6; }
rm -rf "$directory"
mkdir -p "$directory/source"
directory=$(cd "$directory" && pwd)
echo "publish: version $version of commit $(git log -1 --format=%h)"
git -c tar.umask=0022 archive HEAD | tar -x -C "$directory/source"
cd "$directory/source"
find . -name pom.xml -exec sed -i "s/0\.1\.0-SNAPSHOT/$version/" {} +

# The key lives in a directory of its own, whose path is short: its agent listens on a socket there.
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
gpg --batch --quiet --passphrase '' --quick-gen-key 'Quipu dry run <dry-run@quipu.invalid>' rsa3072 sign never
gpg --batch --armor --export > "$directory/key.asc"

# The poms that are published need no parent. Modules that are not published are built if others
# depend on them in tests, because the SBOM tool resolves tests, too.
selected=(-pl '!:quipu,!bench')
[ ${#modules[@]} = 0 ] || selected=(-pl "$(IFS=, && echo "${modules[*]}"),!:quipu" -am)
log=$directory/build.log
maven -T 2 -P "launcher,release,sbom,!format" "${selected[@]}" deploy -Dgpg.keyname=dry-run@quipu.invalid \
  -DaltDeploymentRepository="dry-run::file://$directory/repository" 2>&1 | tee "$log" |
  modules_begun publish || {
  grep '^\[ERROR\]' "$log" >&2 || tail -n 5 "$log" >&2
  echo "publish: the build failed; see $log" >&2
  exit 1
}
echo "publish: checking the rules of Maven Central"
"$JAVA_HOME/bin/java" server/src/test/java/dev/quipu/server/publication/CentralRules.java \
  "$directory/repository" "$directory/key.asc" "$version" . "${modules[@]}"
echo "publish: $directory/repository"
