#!/bin/sh
# Installs embermark from the folder of this script, or removes it. Until every file is copied, an
# older version stays as it is.
#   install.sh [--prefix FOLDER] [--uninstall]    default: /usr/local as root, otherwise ~/.local
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:+$HOME/.local}; fi
uninstall=

fail() { printf 'install: %s\n' "$*" >&2; exit "${status:-1}"; }
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) [ $# -gt 1 ] || { status=2; fail '--prefix takes a folder'; }; prefix=$2; shift ;;
        --prefix=*) prefix=${1#*=} ;;
        --uninstall) uninstall=1 ;;
        *) status=2; fail "unknown argument $1; usage: install.sh [--prefix FOLDER] [--uninstall]" ;;
    esac
    shift
done
case $prefix in
    '') status=2; fail 'name a folder with --prefix: without HOME there is no default' ;;
    /*) ;;
    *) prefix=$(pwd)/$prefix ;;
esac

# remove: removes the files that any version of this script installs. Keeps folders that others use.
remove() {
    rm -rf "$prefix/lib/embermark" "$prefix/share/doc/embermark"
    rm -f "$prefix/bin/embermark" "$prefix"/share/man/man1/embermark.1.gz "$prefix"/share/man/man1/embermark-*.1.gz \
        "$prefix/share/bash-completion/completions/embermark" "$prefix/share/zsh/vendor-completions/_embermark" \
        "$prefix/share/fish/vendor_completions.d/embermark.fish"
}

# The folder of new files, in each folder that is installed into.
new=embermark.new
remove_new() { rm -rf "$prefix/bin/$new" "$prefix/lib/$new" "$prefix/share/$new"; }

if [ -n "$uninstall" ]; then
    remove && remove_new && echo "embermark is gone from $prefix"
    exit
fi
said=$("$here/bin/embermark" --version 2>&1 >/dev/null) || case $?:$said in
    126:*'Permission denied'*)
        fail "$here/bin/embermark may not be executed: this folder is mounted noexec, or its" \
            "files have lost their rights; unpack the package elsewhere" ;;
    *)
        [ -z "$said" ] || printf '%s\n' "$said" >&2
        fail "this package is for another system: it is for $(uname -s) with glibc 2.31 or newer," \
            "and for the architecture in its name; this is $(uname -sm)" ;;
esac
mkdir -p "$prefix" && [ -w "$prefix" ] || fail "$prefix cannot be written to; take another with --prefix, or be root"
[ "$(cd "$prefix" && pwd -P)" != "$(cd "$here" && pwd -P)" ] || fail "$prefix is this package itself; take another with --prefix"
prefix=$(cd "$prefix" && pwd)

trap remove_new EXIT
trap 'exit 130' HUP INT TERM
remove_new
# items FOLDER: prints the files and folders in it that are embermark's alone.
items() { (cd "$prefix/$1/$new" && find . \( -name 'embermark*' -o -name _embermark \) -prune); }
# copy FOLDER: copies its new files, and makes the folders that they go to.
copy() {
    mkdir -p "$prefix/$1/$new" && cp -RP "$here/$1/." "$prefix/$1/$new/" || return 1
    for item in $(items "$1"); do mkdir -p "$prefix/$1/${item%/*}" || return 1; done
}
for folder in bin lib share; do
    copy $folder \
        || fail "$prefix/$folder cannot be written, see above; what was installed is unchanged"
done
"$prefix/bin/$new/embermark" --version >/dev/null \
    || fail "the program does not run in $prefix, which may be mounted noexec: take another" \
        "folder with --prefix; what was installed is unchanged"
# Only names change from here on, which takes no space.
trap '' HUP INT TERM
remove
for folder in lib share bin; do
    for item in $(items $folder); do mv "$prefix/$folder/$new/$item" "$prefix/$folder/$item"; done
done
echo "embermark is $prefix/bin/embermark"
case ":$PATH:" in
    *":$prefix/bin:"*) echo 'begin with:  embermark doctor, then  embermark run' ;;
    *)
        bin=$(printf %s "$prefix/bin" | sed "s/'/'\\\\''/g")
        echo "$prefix/bin is not in PATH:  export PATH='$bin':\$PATH" ;;
esac
