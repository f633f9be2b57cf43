#!/usr/bin/env bash
# Numbers that are quick and one that is not: the quick ones are answered, the other is given up, whatever comes first.
# factors_test.sh PROGRAM [LIBRARY]: the library is preloaded.
set -euo pipefail

factors=("$1")
if [[ $# -gt 1 ]]; then factors=(env LD_PRELOAD="$PWD/$2" "$1"); fi
slow=18446744030759878681  # 4294967291 squared: four thousand million divisions
answers="$(printf '91\n%s\n360\n%s\n1\n97\n' "$slow" "$slow" |
  "${factors[@]}" --lower_ms=50 --upper_ms=100 --threads=2 | sort)"
expected="$(printf '1 = 1\n360 = 2 * 2 * 2 * 3 * 3 * 5\n91 = 7 * 13\n97 = 97\n%s ended early\n%s ended early\n' \
  "$slow" "$slow" | sort)"
if [[ "$answers" != "$expected" ]]; then
  diff <(echo "$expected") <(echo "$answers")
  exit 1
fi

# Bad input: said, and the rest is answered.
if answers="$(printf 'x\n0\n8\n' | "${factors[@]}" 2>/dev/null)"; then
  echo "a line that is no number was accepted"
  exit 1
fi
[[ "$answers" == "8 = 2 * 2 * 2" ]]
for wrong in --lower_ms=x --threads=0 --lower_ms=-1 --what; do
  status=0
  "${factors[@]}" "$wrong" </dev/null 2>/dev/null || status=$?
  [[ "$status" == 2 ]] || { echo "$wrong: status $status"; exit 1; }
done
