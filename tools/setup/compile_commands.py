#!/usr/bin/env python3
"""compile_commands.json from Bazel's list of compile actions.

    bazel aquery --output=jsonproto 'mnemonic("CppCompile", //...)' | compile_commands.py > compile_commands.json

Each source file is named once, with paths relative to the source tree. Precompiled headers and options that only gcc
knows are left out of the commands, for tools that are made of clang.
"""

import json
import os
import sys
from typing import Any, Dict, List


_GCC_ONLY = {"-fno-canonical-system-headers", "-Wno-free-nonheap-object", "-Wno-restrict", "-Wno-stringop-overflow",
             "-Wno-stringop-overread"}


def commands(actions: Dict[str, Any], root: str) -> List[Dict[str, Any]]:
    """One entry for each C++ file that the actions compile."""
    found: Dict[str, Dict[str, Any]] = {}
    for action in actions.get("actions", []):
        arguments = action.get("arguments", [])
        sources = [a for a in arguments if a.endswith((".cc", ".c")) and not a.startswith("-")]
        if len(sources) != 1 or sources[0].startswith("bazel-out/"):
            continue
        kept, skip = [], False
        for i, argument in enumerate(arguments):
            if skip:
                skip = False
            elif argument == "-include" and "prelude" in arguments[i + 1]:
                skip = True
            elif argument not in _GCC_ONLY:
                kept.append(argument)
        found.setdefault(sources[0], {"directory": root, "file": sources[0], "arguments": kept})
    return [found[source] for source in sorted(found)]


def main() -> int:
    made = commands(json.load(sys.stdin), os.getcwd())
    json.dump(made, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
