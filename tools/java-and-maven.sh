# Sets JAVA_HOME to a JDK of at least version 21, or ends with an error. Defines maven: the installed
# one, or else the one that ./mvnw fetches. Sourced by quipu and dev.

java_version() { # HOME -> major version, or nothing
  [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

# JAVA_HOME if it is new enough, then the one of javac, then the newest that is installed.
find_java() {
  local home version best='' best_version=0 on_path
  on_path=$(command -v javac || true)
  for home in "${JAVA_HOME:-}" "${on_path:+$(dirname "$(dirname "$(readlink -f "$on_path")")")}"; do
    if [ -n "$home" ] && [ "$(java_version "$home")" -ge 21 ] 2> /dev/null; then
      export JAVA_HOME=$home
      return
    fi
  done
  for home in /usr/lib/jvm/* /opt/java/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    version=$(java_version "$home")
    if [ "${version:-0}" -ge 21 ] && [ "$version" -gt "$best_version" ]; then
      best=$home best_version=$version
    fi
  done
  if [ -z "$best" ]; then
    echo "quipu: a JDK of version 21 or newer is needed, and none was found." >&2
    echo "quipu: install one, for example temurin-25-jdk, or set JAVA_HOME to it." >&2
    exit 6
  fi
  export JAVA_HOME=$best
}

maven() {
  local options="${MAVEN_OPTS:-}"
  # Libraries of Maven cause warnings of recent JVMs.
  [ "$(java_version "$JAVA_HOME")" -lt 24 ] ||
    options="--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow $options"
  local command=./mvnw
  ! command -v mvn > /dev/null || command=mvn
  MAVEN_OPTS=$options "$command" -B -ntp "$@"
}

find_java
