#!/usr/bin/env bash
# package-test.sh: starts the server of the tarball, and that of the image from its unpacked layers as a
# user without rights on a read-only root. Each counts, stops with status 0, starts again, and is exact.
# Checks the systemd unit. Run by ./dev check, after the build.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
. tools/java-and-maven.sh
export JAVA_HOME
version=$(sed -n 's:^ *<version>\(.*\)</version>$:\1:p' pom.xml | head -n 1)
directory=$(mktemp -d)
pid=''
trap '[ -z "$pid" ] || kill -9 "$pid" 2> /dev/null || true; rm -rf "$directory"' EXIT
unset "${!QUIPU_@}" JAVA_OPTS
export QUIPU_TOKEN=0123456789abcdef QUIPU_HTTP=0 QUIPU_RESP=0

fail() {
  echo "package-test: $*" >&2
  [ ! -f "$directory/log" ] || tail -n 20 "$directory/log" >&2
  exit 1
}

# Starts a command in the background, waits until it is ready, and sets url.
start() { # COMMAND...
  url=''
  "$@" > "$directory/log" 2>&1 &
  pid=$!
  while [ -z "$url" ]; do
    kill -0 $pid 2> /dev/null || fail "$1 ended before it was ready"
    sleep 0.1
    url=$(sed -n 's/^quipu is ready: \(http[^,]*\),.*/\1/p' "$directory/log")
  done
  url=${url/0.0.0.0/127.0.0.1}
}

# Sends SIGTERM to the server: the process, or its child in another namespace of processes.
stop() {
  local server=$pid child='' status=0
  read -r child < "/proc/$pid/task/$pid/children" || true
  [ "$(cat "/proc/$pid/comm")" = java ] || {
    server=$child
    grep -q '/opt/quipu/native/libnetty_transport' "/proc/$server/maps" || fail "no native transport"
  }
  kill -TERM $server
  wait $pid || status=$?
  pid=''
  [ $status = 0 ] || fail "$1 stopped with status $status instead of 0"
}

post() { # ID -> the response
  curl -sS --max-time 60 -H "Authorization: Bearer $QUIPU_TOKEN" -H "Idempotency-Key: \"$1\"" \
    -H 'Content-Type: application/json' -d '{"delta":1}' "$url/v1/counters/likes/add"
}

value() {
  curl -sS --max-time 60 -H "Authorization: Bearer $QUIPU_TOKEN" "$url/v1/counters/likes" |
    sed -n 's/.*"value": *"\([0-9-]*\)".*/\1/p'
}

exercise() { # NAME COMMAND...
  local i
  start "${@:2}"
  for i in 1 2 3; do post "id-$i" > /dev/null; done
  [ "$(value)" = 3 ] || fail "$1: likes is '$(value)' instead of 3"
  stop "$1"
  start "${@:2}"
  for i in 3 4; do post "id-$i" > /dev/null; done # the first is a repeat
  [ "$(value)" = 4 ] || fail "$1: likes is '$(value)' instead of 4 after a restart"
  stop "$1"
  echo "package-test: $1: counted, stopped with status 0, restarted, exact"
}

test_tarball() {
  tar -xzf "target/package/quipu-$version.tar.gz" -C "$directory"
  local root=$directory/quipu-$version unit=$directory/quipu.service
  sed "s:/var/lib/quipu:$directory/data:" "$root/etc/quipu.yaml" > "$directory/quipu.yaml"
  export JAVA_OPTS=-Xmx200m
  exercise tarball "$root/bin/quipu" serve --config "$directory/quipu.yaml"
  "$root/bin/quipu" check --data "$directory/data" > /dev/null || fail "the data is damaged"
  [[ $(JAVA_OPTS=-XX:+PrintFlagsFinal "$root/bin/quipu" version) == *MaxHeapSize* ]] ||
    fail "JAVA_OPTS is not passed"
  unset JAVA_OPTS
  grep -q '"bomFormat" *: *"CycloneDX"' "$root/lib/quipu.cdx.json" || fail "no SBOM in the tarball"
  command -v systemd-analyze > /dev/null || { echo "package-test: no systemd-analyze"; return; }
  sed "s:/opt/quipu/bin:$root/bin:; /^Documentation=/d" "$root/etc/quipu.service" > "$unit"
  local output
  output=$(systemd-analyze verify --man=no "$unit" 2>&1) || fail "unit: $output"
  output=$(systemd-analyze security --offline=yes --threshold=20 "$unit" 2>&1) || fail "unit: $output"
  echo "package-test: unit: exposure $(grep -o "[0-9.]* OK" <<< "$output")"
}

# The last part of a field of the configuration of the image, as words.
field() { # NAME
  grep -o "\"$1\":\[[^]]*\]" "$config" | sed 's/^[^[]*\[//; s/"//g; s/,/ /g; s/\]$//'
}

test_image() {
  local image=$directory/image root=$directory/root manifest layer user
  mkdir -p "$image" "$root"
  tar -xf "target/package/quipu-$version-image.tar" -C "$image"
  blob() { echo "$image/blobs/${1/://}"; }
  manifest=$(blob "$(grep -o 'sha256:[0-9a-f]*' "$image/index.json" | head -n 1)")
  config=$(blob "$(grep -o 'sha256:[0-9a-f]*' "$manifest" | head -n 1)")
  if [ "$(id -u)" != 0 ] || ! unshare --mount --pid --fork true 2> /dev/null; then
    echo "package-test: image: not started, which needs root and namespaces"
    return
  fi
  for layer in $(grep -o 'sha256:[0-9a-f]*' "$manifest" | tail -n +2); do
    tar --warning=no-unknown-keyword -xzpf "$(blob "$layer")" -C "$root" --numeric-owner
  done
  grep -q '"bomFormat" *: *"CycloneDX"' "$root/opt/quipu/lib/quipu.cdx.json" || fail "no SBOM in the image"
  user=$(sed -n 's/.*"User":"\([^"]*\)".*/\1/p' "$config")
  [[ $user =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || fail "the image runs as '$user'"
  cp -a "$root/data" "$directory/volume" # as a new volume
  # In its own namespaces: read-only but for the volume, and as process 1.
  run_image() {
    exec unshare --mount --pid --fork --kill-child bash -c '
      set -e
      root=$1 volume=$2 user=$3
      mount --bind "$root" "$root"
      mount --bind "$volume" "$root/data"
      mount -t proc proc "$root/proc"
      mount --rbind /dev "$root/dev"
      mount -o remount,ro,bind "$root"
      exec env -i QUIPU_TOKEN="$QUIPU_TOKEN" QUIPU_HTTP=0 QUIPU_RESP=0 \
        "$(command -v chroot)" --userspec="$user" "$root" "${@:4}"
    ' run "$root" "$directory/volume" "$user" $(field Entrypoint) $(field Cmd)
  }
  exercise image run_image
  [ -z "$(find "$root" -xdev -newer "$directory/volume/format" -type f)" ] || fail "the root changed"
}

tools/package.sh tarball
test_tarball
if [ "$(java_version "$JAVA_HOME")" -ge 25 ]; then
  tools/package.sh image
  test_image
else
  echo "package-test: image: not built, which needs JDK 25"
fi
