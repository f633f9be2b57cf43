#!/usr/bin/env bash
# run_experiment.sh LAB NAME --smoke|--quick: runs NAME; the exit status is its verdict.
set -euo pipefail
exec "$1" run "$2" "$3" --out="${TEST_UNDECLARED_OUTPUTS_DIR:-${TEST_TMPDIR:?}}"
