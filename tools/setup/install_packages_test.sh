#!/usr/bin/env bash
# Tests of install_packages.sh with stand-ins for dpkg-query, apt-get, id and sudo.
# shellcheck disable=SC2016  # the stand-ins expand them
set -euo pipefail

program="$PWD/$1"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
failures=0

stand_in() {
  printf '#!/bin/bash\n%s\n' "$2" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}

# A system on which only `present` is installed, and apt-get installs what is asked for.
fresh_system() {
  rm -rf "${folder:?}/bin" "$folder/installed" "$folder/apt.log"
  mkdir -p "$folder/bin"
  printf 'present\n' >"$folder/installed"
  : >"$folder/apt.log"
  printf '# what is wanted\npresent\nabsent  # and why\n' >"$folder/list"
  stand_in dpkg-query 'while read -r name; do printf "installed=%s\n" "$name"; done <"'"$folder"'/installed"; exit 1'
  stand_in apt-get 'echo "$*" >>"'"$folder"'/apt.log"
    case "$*" in *" install "*) printf "%s\n" "${@: -1}" >>"'"$folder"'/installed" ;; esac'
  stand_in id 'echo 0'
  stand_in sudo 'exit 1'
}

run() {
  status=0
  PATH="$folder/bin:$PATH" "$program" --list="$folder/list" "$@" >"$folder/out" 2>&1 </dev/null || status=$?
}

expect() {
  local what="$1"
  shift
  if ! "$@"; then
    printf 'FAILED: %s\n' "$what"
    sed 's/^/  | /' "$folder/out"
    failures=$((failures + 1))
  fi
}

fresh_system
run
expect "installs what is missing" test "$status" == 0
expect "asks only for that" grep -q -- '--no-install-recommends absent$' "$folder/apt.log"
expect "needs no update" test "$(grep -c . "$folder/apt.log")" == 1

: >"$folder/apt.log"
run
expect "has nothing to do" test "$status" == 0
expect "then leaves apt alone" test ! -s "$folder/apt.log"

fresh_system
run --check
expect "--check says that something is missing" test "$status" == 3
expect "--check names it" grep -q 'missing: absent' "$folder/out"
expect "--check installs nothing" test ! -s "$folder/apt.log"

fresh_system
stand_in apt-get 'echo "$*" >>"'"$folder"'/apt.log"
  case "$*" in
    *update) touch "'"$folder"'/updated" ;;
    *" install "*) [ -e "'"$folder"'/updated" ] && printf "absent\n" >>"'"$folder"'/installed" ;;
  esac'
run
expect "fetches the lists when they are empty" test "$status" == 0
expect "fetches them once" test "$(grep -c 'update$' "$folder/apt.log")" == 1

fresh_system
stand_in id 'echo 1000'
run
expect "without root and sudo ends with 3" test "$status" == 3
expect "and gives the command" grep -q 'apt-get install -y --no-install-recommends absent' "$folder/out"
expect "and calls no apt" test ! -s "$folder/apt.log"

fresh_system
stand_in id 'echo 1000'
stand_in sudo '[ "$1" = -n ] && shift; exec "$@"'
run
expect "uses sudo" test "$status" == 0

fresh_system
stand_in apt-get 'echo "no network"; exit 100'
run
expect "reports a failed installation" test "$status" == 1
expect "with what apt said" grep -q 'no network' "$folder/out"

fresh_system
stand_in apt-get 'exit 0'
run
expect "does not believe apt blindly" test "$status" == 1

run --nonsense
expect "refuses unknown options" test "$status" == 2

[[ "$failures" == 0 ]] && echo "all passed"
