# Sets JAVA_HOME to a JDK of at least version 21, or ends with an error. Defines maven: the installed
# one, or else the one that ./mvnw fetches. Sourced by quipu, dev and tools.

# Without other programs, which ./quipu would wait for.
java_version() { # HOME -> major version, or nothing
  local line
  [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      'JAVA_VERSION="'*)
        line=${line#*\"}
        echo "${line%%[!0-9]*}"
        ;;
    esac
  done < "$1/release"
}

# JAVA_HOME if it is new enough, then the one of javac, then the newest that is installed.
find_java() {
  local home version best='' best_version=0
  if [ -n "${JAVA_HOME:-}" ] && [ "$(java_version "$JAVA_HOME")" -ge 21 ] 2> /dev/null; then
    return
  fi
  if home=$(readlink -f "$(command -v javac)") 2> /dev/null; then
    home=${home%/*/*}
    if [ "$(java_version "$home")" -ge 21 ] 2> /dev/null; then
      export JAVA_HOME=$home
      return
    fi
  fi
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
  # Jansi resets the colors at the end of a build, also if there are none.
  local options="-Djansi.noreset=true ${MAVEN_OPTS:-}"
  # Libraries of Maven cause warnings of recent JVMs.
  [ "$(java_version "$JAVA_HOME")" -lt 24 ] ||
    options="--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow $options"
  local command=./mvnw
  ! command -v mvn > /dev/null || command=mvn
  MAVEN_OPTS=$options "$command" -B -ntp "$@"
}

# Prints a line for each module that Maven begins to build, out of what it prints.
modules_begun() { # PROGRAM
  sed -nu "s/^\[INFO\] Building \(Quipu.*[^ ]\) [^ ][^ ]*  *\[\([0-9]*\)\/\([0-9]*\)\]\$/$1: building \1 (\2 of \3)/p"
}

find_java
