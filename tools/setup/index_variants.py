#!/usr/bin/env python3
"""Prints the options of //tools:build_index that keep the variants an index holds, one a line.

    index_variants.py FOLDER

Nothing is printed where there is no readable index. Someone who built further variants of the tiers
keeps them when ./tools/up brings the index up to date.
"""

import json
import os
import sys
from typing import List

_NAME_MAX = 64
_MANIFEST_SIZE_MAX = 16 << 20


def variants(parts: List[dict], first_part: str) -> List[str]:
    """Implementations of a tier or store, the default one (in the folder `first_part`) first."""
    found = []
    for part in parts:
        name, implementation = str(part["name"]), str(part["implementation"])
        if name.split(".")[0] != first_part or len(implementation) > _NAME_MAX:
            continue
        found.insert(0 if name == first_part else len(found), implementation)
    return found


def options(folder: str) -> List[str]:
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            parts = json.loads(file.read(_MANIFEST_SIZE_MAX))["parts"]
        tiers, stores = variants(parts, "tier1"), variants(parts, "docs")
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [
        f"--{flag}={','.join(names)}"
        for flag, names in (("index_tiers", tiers), ("document_stores", stores))
        if names
    ]


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(2)
    print("\n".join(options(sys.argv[1])))
