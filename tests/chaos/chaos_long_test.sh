#!/usr/bin/env bash
# Two thousand seeds must pass.
set -euo pipefail
exec tests/chaos/chaos --seeds=2000
