#!/usr/bin/env bash
# Installs the Debian packages that the project needs and this system lacks.
#
#   tools/setup/install_packages.sh           installs what is missing; as root or with sudo
#   tools/setup/install_packages.sh --check   only says what is missing
#   tools/setup/install_packages.sh --list=F  takes the names from F instead of tools/packages.txt; may be
#                                             given several times
#
# Status: 0 all is there; 1 the installation failed; 2 wrong arguments; 3 something is missing and
# cannot be installed from here, the message has the command to give. When all is there, neither apt
# nor the network is used.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
lists=()
check_only=false

fail() {
  printf 'install_packages: %s\n' "$2" >&2
  exit "$1"
}

# Names of the list that dpkg does not know as installed, one a line.
missing_packages() {
  local installed name
  # dpkg-query fails if it does not know one of the names; what it prints is still right.
  installed=" $(dpkg-query --show --showformat='${db:Status-Status}=${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed=//p' | tr '\n' ' ' || true)"
  for name in "$@"; do
    [[ "$installed" == *" $name "* ]] || printf '%s\n' "$name"
  done
}

# The words to put before a command that must run as root; fails if there is no way.
root_prefix() {
  if [[ "$(id -u)" == 0 ]]; then
    return 0
  fi
  command -v sudo >/dev/null || return 1
  if [[ -t 0 ]]; then
    printf 'sudo\n'
  else
    sudo -n true 2>/dev/null || return 1
    printf 'sudo\n-n\n'
  fi
}

install_all() {
  local prefix_text prefix=()
  prefix_text="$(root_prefix)" || fail 3 "these packages are missing: $*
Installing them needs root. Give this command as root, then try again:
  apt-get update && apt-get install -y --no-install-recommends $*"
  [[ -z "$prefix_text" ]] || mapfile -t prefix <<<"$prefix_text"
  local apt=("${prefix[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0
    -o DPkg::Lock::Timeout=300)
  printf 'installing %d packages: %s\n' $# "$*" >&2
  # The lists may be empty or old, so a first failure only means that they must be fetched.
  if ! "${apt[@]}" install -y --no-install-recommends "$@" >"$log" 2>&1 </dev/null; then
    "${apt[@]}" update >"$log" 2>&1 </dev/null ||
      { tail -n 20 "$log" >&2 && fail 1 "apt-get update failed; is the network up?"; }
    "${apt[@]}" install -y --no-install-recommends "$@" >"$log" 2>&1 </dev/null ||
      { tail -n 40 "$log" >&2 && fail 1 "apt-get install failed; its last lines are above"; }
  fi
}

for argument in "$@"; do
  case "$argument" in
    --check) check_only=true ;;
    --list=*) lists+=("${argument#*=}") ;;
    --help | -h)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) fail 2 "unknown argument '$argument'; see --help" ;;
  esac
done

[[ "${#lists[@]}" -gt 0 ]] || lists=("$here/../packages.txt")
wanted=()
for list in "${lists[@]}"; do
  [[ -r "$list" ]] || fail 2 "cannot read $list"
  mapfile -t -O "${#wanted[@]}" wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$list")
done
[[ "${#wanted[@]}" -gt 0 ]] || fail 2 "${lists[*]} names no package"
command -v dpkg-query >/dev/null || fail 3 "this system has no dpkg. The project builds on Debian 12
with these packages; elsewhere install their equivalents: ${wanted[*]}"
mapfile -t missing < <(missing_packages "${wanted[@]}")
if [[ "${#missing[@]}" == 0 ]]; then
  printf 'all %d packages are installed\n' "${#wanted[@]}" >&2
  exit 0
fi
if "$check_only"; then
  fail 3 "these packages are missing: ${missing[*]}"
fi
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
install_all "${missing[@]}"
mapfile -t missing < <(missing_packages "${wanted[@]}")
[[ "${#missing[@]}" == 0 ]] || fail 1 "apt-get succeeded, yet these are missing: ${missing[*]}"
