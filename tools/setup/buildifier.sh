#!/usr/bin/env bash
# Runs buildifier, which Debian does not package, with the given arguments.
#
#   tools/setup/buildifier.sh --mode=check BUILD ...
#
# Its version is pinned, because versions differ in what they write: `go install` puts it below ~/.cache on the first
# run. Without Go, a buildifier on the PATH is taken as it is.
#
# Status: that of buildifier; 3 if there is neither.
set -euo pipefail

module=github.com/bazelbuild/buildtools/buildifier
version=v0.0.0-20250130132114-635c1223b1e6
folder="${XDG_CACHE_HOME:-${HOME:?}/.cache}/neptune-tools/buildifier-$version"

install_pinned() {
  command -v go >/dev/null || return 1
  printf 'installing buildifier %s by go install\n' "$version" >&2
  GOBIN="$folder" GOFLAGS= go install "$module@$version" >&2
}

program="$folder/buildifier"
if [[ ! -x "$program" ]] && ! install_pinned; then
  program="$(command -v buildifier)" || {
    printf 'buildifier: skipped: there is no buildifier, and no Go to install one with. Install Go 1.20 or later, or give\n' >&2
    printf '  go install %s@%s\n' "$module" "$version" >&2
    exit 3
  }
fi
exec "$program" "$@"
