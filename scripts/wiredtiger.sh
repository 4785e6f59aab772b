#!/bin/sh
# Compiles WiredTiger's library on a bare Debian with a C compiler. It replaces WiredTiger's CMake
# files, which need CMake and Python.
#   wiredtiger.sh header SOURCES FOLDER    writes the header and the licence into a new folder, from
#                                          unpacked sources
#   wiredtiger.sh library SOURCES FOLDER [ARCHITECTURE]   adds libwiredtiger.so for this
#                                          architecture, or for another (named as by uname -m) with
#                                          its compiler in CC
# Options and definitions are those of WiredTiger's release build (cmake/configs/base.cmake,
# auto.cmake and those of the architecture), without diagnostics and extensions.
set -eu
sources=$(cd "$2" && pwd)
mkdir -p "$3"
cd "$3"

case "${4:-$(uname -m)}" in
    x86_64) host=X86_HOST options=-DHAVE_X86INTRIN_H ;;
    # WiredTiger's CMake adds rcpc if the compiler supports it, regardless of the processor.
    aarch64) host=ARM64_HOST options='-DHAVE_ARM_NEON_INTRIN_H -mcpu=generic+crc -moutline-atomics' ;;
    *) echo "WiredTiger is not compiled for ${4:-$(uname -m)}" >&2; exit 1 ;;
esac

# number WHICH: prints a part of the version in the sources.
number() { sed -n "s/^WIREDTIGER_VERSION_$1=//p" "$sources/RELEASE_INFO"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
string=$(sed -n 's/^set(WT_VERSION_STRING \(.*\))$/\1/p' "$sources/cmake/configs/version.cmake")

if [ "$1" = header ]; then
    sed -e "s/@VERSION_MAJOR@/$(number MAJOR)/; s/@VERSION_MINOR@/$(number MINOR)/; s/@VERSION_PATCH@/$(number PATCH)/" \
        -e "s/@VERSION_STRING@/$string/; s/@off_t_decl@/typedef off_t wt_off_t;/; s/@uint[a-z]*_t_decl@//" \
        -e 's/@wiredtiger_includes_decl@/#include <sys\/types.h>\n#include <inttypes.h>\n#include <stdarg.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>/' \
        "$sources/src/include/wiredtiger.in" >wiredtiger.h
    cp "$sources/LICENSE" .
    exit 0
fi

mkdir objects
# Features of Linux with the GNU C library.
{
    for has in CLOCK_GETTIME DLFCN_H FALLOCATE FDATASYNC GETTIMEOFDAY INTTYPES_H LIBDL LIBPTHREAD LIBRT MEMORY_H \
        POSIX_FADVISE POSIX_FALLOCATE POSIX_MADVISE POSIX_MEMALIGN PTHREAD_COND_MONOTONIC SETRLIMIT STDINT_H STDLIB_H \
        STRINGS_H STRING_H STRTOUQ SYNC_FILE_RANGE SYS_STAT_H TIMER_CREATE UNISTD_H; do
        echo "#define HAVE_$has 1"
    done
    echo '#define SPINLOCK_TYPE SPINLOCK_PTHREAD_MUTEX'
    echo '#define WT_BUFFER_ALIGNMENT_DEFAULT 4096'
    echo '#define WT_STANDALONE_BUILD 1'
    echo "#define VERSION \"$version\""
} >objects/wiredtiger_config.h

# The source files for this system. A condition may follow a name. All names differ.
cd objects
awk -v host="$host" '/^src/ && (NF == 1 || $2 == "POSIX_HOST" || $2 == "LINUX_HOST" || $2 == host) { print $1 }' \
    "$sources/dist/filelist" | sed "s|^|$sources/|" >files
# Every file begins with the header wt_internal.h. Precompiling it halves the time with GCC.
compile="${CC:-cc} -std=gnu11 -O2 -fPIC -fno-strict-aliasing -w -DNDEBUG -D_GNU_SOURCE $options -I. -I.. -I$sources/src/include"
# The variable is a list of words.
# shellcheck disable=SC2086
{
    $compile -x c-header "$sources/src/include/wt_internal.h" -o wt_internal.h.gch
    xargs -n 4 -P "$(nproc)" $compile -c <files
}
${CC:-cc} -shared -Wl,-soname,libwiredtiger.so -Wl,-z,defs -o ../libwiredtiger.so ./*.o -lpthread -lrt -ldl
cd ..
rm -r objects
