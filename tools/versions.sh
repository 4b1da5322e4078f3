#!/usr/bin/env bash
# versions.sh REPOSITORY VERSION: compares the libraries that a project with the BOM gets for each module in
# what tools/publish.sh wrote to those that the module was tested with, which its SBOM lists. Fails if a
# version is another one. The same without the BOM shows that the comparison finds differences.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/java-and-maven.sh
repository=$(cd "$1" && pwd) version=$2
directory=$(mktemp -d)
forget() { # an earlier build of this version
  rm -rf "${HOME:?}"/.m2/repository/dev/quipu/*/"$version"
}
trap 'rm -rf "$directory"; forget' EXIT
forget

# The BOM of Spring Boot, which its projects have, determines the versions for the modules for Spring.
modules=$(cd "$repository/dev/quipu" && printf '%s\n' */"$version"/*-"$version".jar | sed 's#/.*##; /^quipu-spring-/d')

project() { # ARTIFACT CONTENT
  echo "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>\
<artifactId>$1</artifactId><version>1</version><packaging>pom</packaging>$2</project>"
}

dependency() { # ARTIFACT FURTHER
  echo "<dependencies><dependency><groupId>dev.quipu</groupId><artifactId>$1</artifactId>\
<version>$version</version>$2</dependency></dependencies>"
}

projects() { # WITH-OR-WITHOUT MANAGEMENT: a project that depends on it for each module
  local module all=''
  for module in $modules; do
    mkdir -p "$directory/$1/$module"
    project "$module" "$2$(dependency "$module" '')<repositories><repository><id>quipu</id>\
<url>file://$repository</url></repository></repositories>" > "$directory/$1/$module/pom.xml"
    all+="<module>$module</module>"
  done
  project all "<modules>$all</modules>" > "$directory/$1/pom.xml"
  maven -q -f "$directory/$1/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.9.0:tree -DoutputFile=tree
}

untested() { # WITH-OR-WITHOUT: prints the libraries whose version is not the tested one
  local module
  for module in $modules; do
    comm -23 \
      <(grep -o '[^ ]*:[^ ]*:jar:[^ ]*' "$directory/$1/$module/tree" | awk -F: '{ print $1 "/" $2 "@" $(NF - 1) }' | sort -u) \
      <(sed -n 's#.*"pkg:maven/\([^?"]*\).*#\1#p' "$repository/dev/quipu/$module/$version/$module-$version-cyclonedx.json" | sort -u) |
      sed "s#^#$module: #"
  done
}

projects with "<dependencyManagement>$(dependency quipu-bom '<type>pom</type><scope>import</scope>')</dependencyManagement>"
projects without ''
other=$(untested with)
[ -z "$other" ] || { printf 'versions: with the BOM, but not tested: %s\n' "${other//$'\n'/, }" >&2; exit 1; }
count=$(untested without | wc -l)
[ "$count" -gt 0 ] || { echo "versions: the BOM changes nothing; is it compared?" >&2; exit 1; }
echo "versions: the libraries of $(wc -w <<< "$modules") modules are the tested ones with the BOM; $count differ without it," \
  "such as $(untested without | grep -m 1 netty)"
