"""Every C++ file is as the pinned clang-format writes it; names each that is not.

Version 14, Debian 12's, because versions differ in what they write. To mend a tree:
git ls-files '*.h' '*.cc' | xargs clang-format-14 -i
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import List

from source_tree import SourceTree
from style_test import workspace

FORMATTER = "clang-format-14"
FILES_AT_ONCE = 40
TIME_LIMIT_S = 240


def badly_formatted(root: str, paths: List[str]) -> List[str]:
    """The complaints about these files, one line each."""
    done = subprocess.run([FORMATTER, "--dry-run", "--Werror", "--ferror-limit=1", "--style=file", *paths], cwd=root,
                          capture_output=True, text=True, check=False, timeout=TIME_LIMIT_S)
    complaints = [line for line in done.stderr.splitlines() if "error:" in line]
    if done.returncode != 0 and not complaints:
        complaints = [f"{FORMATTER}: status {done.returncode}: {done.stderr.strip()}"]
    return complaints


def main() -> int:
    if shutil.which(FORMATTER) is None:
        print(f"{FORMATTER} is not installed; tools/packages_test.txt names it", file=sys.stderr)
        return 2
    tree = SourceTree(workspace())
    paths = tree.with_suffix(".h", ".cc")
    parts = [paths[i:i + FILES_AT_ONCE] for i in range(0, len(paths), FILES_AT_ONCE)]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        complaints = [line for part in pool.map(lambda p: badly_formatted(tree.root, p), parts) for line in part]
    for line in complaints:
        print(line)
    print(f"{len(paths)} files, {len(complaints)} not as {FORMATTER} writes them")
    return 1 if complaints or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
