#!/usr/bin/env bash
set -euo pipefail
exec python3 tests/link_lists/link_lists_test.py
