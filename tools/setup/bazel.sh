# Sourced by tools/up and tools/test: numbered steps with their time, and Bazel within what this
# machine has. REQUIRES: the working directory is the root of the source tree; step_count is set
# before the first step.
# shellcheck shell=bash

step_number=0
step_name=
step_started=0
# Bazel keeps its files under the home folder, which services and build machines may not name.
export HOME="${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}"

# Ends the step before, if there is one, and names the next.
step() {
  step_end
  step_name="$1"
  step_number=$((step_number + 1))
  step_started=$SECONDS
  printf '%d/%d %s ...\n' "$step_number" "${step_count:?}" "$step_name" >&2
}

step_end() {
  [[ -n "$step_name" ]] || return 0
  printf '%d/%d %s: %d s\n' "$step_number" "$step_count" "$step_name" \
    $((SECONDS - step_started)) >&2
  step_name=
}

# Files to compile at a time: a compiler takes up to a GiB here, Bazel itself one.
job_count() {
  local cpus memory_gib
  cpus="$(nproc)"
  memory_gib="$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)"
  local by_memory=$((memory_gib > 2 ? memory_gib - 1 : 1))
  printf '%d\n' $((cpus < by_memory ? cpus : by_memory))
}

# run_bazel COMMAND [OPTIONS...]
run_bazel() {
  local command="$1" options=("--jobs=${NEPTUNE_JOBS:-$(job_count)}")
  shift
  if [[ "${CI:-}" == true ]]; then
    options+=(--color=no --curses=no --show_progress_rate_limit=60)
  fi
  bazel "$command" "${options[@]}" "$@" </dev/null
}
