#!/usr/bin/env bash
# package.sh tarball|image: packs server/target/quipu.jar, which ./dev builds. Writes
# target/package/quipu-VERSION.tar.gz, or an OCI image, target/package/quipu-VERSION-image.tar.
set -euo pipefail
umask 022
cd "$(dirname "$(readlink -f "$0")")/.."
. tools/java-and-maven.sh
version=$(sed -n 's:^ *<version>\(.*\)</version>$:\1:p' pom.xml | head -n 1)
seconds=$(git log -1 --format=%ct 2> /dev/null || echo 0) # the same commit gives the same files
jar=server/target/quipu.jar
out=target/package
[ -f $jar ] || { echo "package: $jar is missing; run ./dev $1" >&2; exit 6; }
mkdir -p $out

tarball() {
  local root=$out/quipu-$version
  rm -rf "$root"
  mkdir -p "$root"/{bin,lib,etc}
  cp tools/package/quipu "$root/bin/quipu"
  cp $jar tools/java-options.sh "$root/lib"
  cp LICENSE NOTICE "$root"
  cp tools/package/{quipu.service,quipu.yaml} "$root/etc"
  sbom "$root/lib/quipu.cdx.json"
  chmod -R u=rwX,go=rX "$root"
  tar -C $out --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$seconds" \
    -cf - "quipu-$version" | gzip -n > "$root.tar.gz"
  rm -r "$root"
  echo "package: $root.tar.gz"
}

sbom() { # FILE
  local from=META-INF/sbom/application.cdx.json
  (cd "$(dirname "$1")" && "$JAVA_HOME/bin/jar" --extract --file "$OLDPWD/$jar" $from)
  mv "$(dirname "$1")/$from" "$1"
  rm -r "$(dirname "$1")/META-INF"
}

# What the server, its drivers and their TLS use; see jdeps --print-module-deps.
modules=java.base,java.compiler,java.desktop,java.instrument,java.logging,java.management,java.naming
modules+=,java.net.http,java.rmi,java.security.jgss,java.security.sasl,java.sql,java.xml
modules+=,jdk.httpserver,jdk.jfr,jdk.management,jdk.naming.dns,jdk.net,jdk.unsupported,jdk.zipfs

image() {
  local layers=$out/layers architecture=amd64 native=x86_64 library each
  [ "$(java_version "$JAVA_HOME")" -ge 25 ] || { echo "package: the image needs JDK 25" >&2; exit 6; }
  case $(uname -m) in
    x86_64) ;;
    aarch64) architecture=arm64 native=aarch_64 ;;
    *) echo "package: no image for $(uname -m)" >&2; exit 6 ;;
  esac
  rm -rf $layers
  mkdir -p $layers/{1-system/{etc,data,tmp,proc,dev},2-java/opt,3-quipu/opt/quipu/{lib,native}}
  "$JAVA_HOME/bin/jlink" --add-modules $modules --strip-java-debug-attributes --no-header-files \
    --no-man-pages --compress zip-6 --output $layers/2-java/opt/java

  # The C library, of the machine, with the resolver, which it loads by name.
  for library in $(ldd "$JAVA_HOME/bin/java" $layers/2-java/opt/java/lib/{*.so,server/libjvm.so} |
    sed -n 's:.*[ \t]\(/[^ ]*/\(ld-linux[^ ]*\|lib\(c\|m\|dl\|rt\|pthread\)\.so[^ ]*\)\) (.*:\1:p' | sort -u); do
    copy "$library" $layers/1-system
  done
  library=$(ldd "$JAVA_HOME/bin/java" | sed -n 's:.* \(/[^ ]*\)/libc\.so.*:\1:p')
  for each in libresolv.so.2 libnss_dns.so.2 libnss_files.so.2; do
    [ ! -f "$library/$each" ] || copy "$library/$each" $layers/1-system
  done
  each=/usr/share/doc/libc6/copyright
  [ ! -f $each ] || copy $each $layers/1-system
  echo 'quipu:x:10001:10001::/data:/sbin/nologin' > $layers/1-system/etc/passwd
  echo 'quipu:x:10001:' > $layers/1-system/etc/group
  echo 'hosts: files dns' > $layers/1-system/etc/nsswitch.conf
  chmod 1777 $layers/1-system/tmp

  # Native libraries are in the image, because the JVM cannot unpack them on a read-only root.
  cp $jar LICENSE NOTICE $layers/3-quipu/opt/quipu/lib
  sbom $layers/3-quipu/opt/quipu/lib/quipu.cdx.json
  (cd $layers/3-quipu/opt/quipu/native && "$JAVA_HOME/bin/jar" --extract --file "$OLDPWD/$jar" META-INF/native &&
    mv META-INF/native/*_$native.so . && rm -r META-INF)

  [ -f $out/classpath ] && [ $out/classpath -nt tools/package/pom.xml ] ||
    maven -q -f tools/package/pom.xml dependency:build-classpath -Dmdep.outputFile="$PWD/$out/classpath"
  "$JAVA_HOME/bin/java" --sun-misc-unsafe-memory-access=allow -cp "$(cat $out/classpath)" tools/package/Image.java $layers \
    "$out/quipu-$version-image.tar" "$version" $architecture "$seconds" \
    /opt/java/bin/java --sun-misc-unsafe-memory-access=allow -XX:MaxRAMPercentage=50 -XX:G1PeriodicGCInterval=60000 \
    -XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=40 -XX:-UsePerfData \
    -Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.EPollSelectorProvider \
    -Djava.library.path=/opt/quipu/native -jar /opt/quipu/lib/quipu.jar
  rm -rf $layers $out/cache
  echo "package: $out/quipu-$version-image.tar"
}

copy() { # FILE ROOT: to the same path, without links
  mkdir -p "$2$(dirname "$1")"
  cp -L "$1" "$2$1"
}

case "${1:-}" in
  tarball | image) "$1" ;;
  *)
    echo "package: specify tarball or image" >&2
    exit 2
    ;;
esac
