#!/usr/bin/env bash
# Runs buildifier, which Debian does not package, with the given arguments.
#
#   tools/setup/buildifier.sh --mode=check BUILD ...
#
# Its version is pinned, because versions differ in what they write: `go install` puts it below ~/.cache on the first
# run. Without Go, a buildifier on the PATH is taken as it is.
#
# Status: 4 if files differ or it warns, as buildifier has it, and 2 for wrong arguments; 3 if there is no buildifier to
# run; 1 for everything else, also for buildifier's own 3, an error at run time.
set -euo pipefail

module=github.com/bazelbuild/buildtools/buildifier
version=v0.0.0-20250130132114-635c1223b1e6
folder="${XDG_CACHE_HOME:-${HOME:?}/.cache}/neptune-tools/buildifier-$version"

install_pinned() {
  command -v go >/dev/null || {
    absent='no Go to install one with. Install Go 1.20 or later, or give'
    return 1
  }
  printf 'installing buildifier %s by go install\n' "$version" >&2
  GOBIN="$folder" GOFLAGS= go install "$module@$version" >&2 || {
    absent='Go could not install one. Its message is above; the command was'
    return 1
  }
}

absent='' # why it is, and what introduces the command
program="$folder/buildifier"
if [[ ! -x "$program" ]] && ! install_pinned; then
  program="$(command -v buildifier)" || {
    printf 'buildifier: skipped: there is no buildifier, and %s\n' "$absent" >&2
    printf '  go install %s@%s\n' "$module" "$version" >&2
    exit 3
  }
fi
status=0
"$program" "$@" || status=$?
[[ "$status" != 3 ]] || status=1
exit "$status"
