#!/bin/sh
# Installs embermark from the folder of this script, or removes it.
#   install.sh [--prefix FOLDER] [--uninstall]    default: /usr/local as root, otherwise ~/.local
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
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

# remove: removes the files that any version of this script installs. Keeps folders that others use.
remove() {
    rm -rf "$prefix/lib/embermark" "$prefix/share/doc/embermark"
    rm -f "$prefix/bin/embermark" "$prefix"/share/man/man1/embermark.1.gz "$prefix"/share/man/man1/embermark-*.1.gz \
        "$prefix/share/bash-completion/completions/embermark" "$prefix/share/zsh/vendor-completions/_embermark" \
        "$prefix/share/fish/vendor_completions.d/embermark.fish"
}

if [ -n "$uninstall" ]; then
    remove && echo "embermark is gone from $prefix"
    exit
fi
"$here/bin/embermark" --version >/dev/null || fail "this package is for another system: it is for $(uname -s) with glibc 2.31 or newer, and for the architecture in its name; this is $(uname -sm)"
mkdir -p "$prefix" && [ -w "$prefix" ] || fail "$prefix cannot be written to; take another with --prefix, or be root"
[ "$(cd "$prefix" && pwd -P)" != "$(cd "$here" && pwd -P)" ] || fail "$prefix is this package itself; take another with --prefix"
remove
for folder in bin lib share; do
    mkdir -p "$prefix/$folder" && cp -RP "$here/$folder/." "$prefix/$folder/"
done
echo "embermark is $prefix/bin/embermark"
case ":$PATH:" in
    *":$prefix/bin:"*) echo 'begin with:  embermark doctor, then  embermark run' ;;
    *) echo "$prefix/bin is not in PATH:  export PATH=$prefix/bin:\$PATH" ;;
esac
