#!/usr/bin/env python3
"""Line coverage of each folder, from the counts that programs built with --config=coverage have written.

    coverage_report.py [--files] --bin=BAZEL_BIN --execroot=EXECROOT FOLDER...

A line that several objects hold, such as one of a header, is covered if it ran in any of them. Tests, benchmarks, what
only tests use, and files that are not in the source tree are left out. So are files that no test links: nothing was
compiled that could count them.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from typing import Any, Dict, Iterable, List, NamedTuple

# Files that only tests use.
_TESTS = re.compile(r"(^|/)testing/|_(test|fuzz|benchmark)\.cc$|_conformance(_test)?\.(cc|h)$")
Lines = Dict[int, bool]  # whether the line ran, by number


class Share(NamedTuple):
    covered: int
    lines: int

    def __str__(self):
        percent = f"{100 * self.covered / self.lines:5.1f} %" if self.lines else "    -  "
        return f"{percent} {self.covered:7,} of {self.lines:7,}"


def is_reported(path: str, folders: Iterable[str]) -> bool:
    if os.path.isabs(path) or path.startswith("bazel-out/") or _TESTS.search(path):
        return False
    return any(folder == "" or path.startswith(folder + "/") for folder in folders)


def merge(found: Dict[str, Lines], report: Dict[str, Any], folders: List[str]) -> None:
    """Adds what gcov says about one object."""
    for file in report.get("files", []):
        path = os.path.normpath(file["file"])
        if not is_reported(path, folders):
            continue
        lines = found.setdefault(path, {})
        for line in file["lines"]:
            number = line["line_number"]
            lines[number] = lines.get(number, False) or line["count"] > 0


def share(lines: Iterable[Lines]) -> Share:
    flags = [ran for one in lines for ran in one.values()]
    return Share(sum(flags), len(flags))


def table(found: Dict[str, Lines], by_file: bool) -> List[str]:
    """One row a folder, or a file, and their sum at the end."""
    groups: Dict[str, List[Lines]] = {}
    for path in sorted(found):
        groups.setdefault(path if by_file else os.path.dirname(path), []).append(found[path])
    rows = [f"{share(lines)}  {name}" for name, lines in groups.items()]
    return rows + [f"{share(found.values())}  all"]


def _read(description: str, execroot: str) -> Dict[str, Any]:
    ran = subprocess.run(["gcov", "--json-format", "--stdout", description], cwd=execroot, check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(ran.stdout or b"{}")


def _descriptions(folder: str) -> List[str]:
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".gcno"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Line coverage of each folder.")
    parser.add_argument("--bin", required=True, help="where Bazel puts objects: bazel info bazel-bin --config=coverage")
    parser.add_argument("--execroot", required=True, help="where compilers run: bazel info execution_root")
    parser.add_argument("--files", action="store_true", help="one row a file rather than a folder")
    parser.add_argument("folders", nargs="+", help="folders of the source tree; '' for all of it")
    options = parser.parse_args()
    found: Dict[str, Lines] = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for report in pool.map(lambda path: _read(path, options.execroot), _descriptions(options.bin)):
            merge(found, report, options.folders)
    if not found:
        print("coverage: nothing was counted in these folders", file=sys.stderr)
        return 1
    print("\n".join(table(found, options.files)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
