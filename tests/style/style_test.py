"""Checks the whole source tree against the style rules; one line for each violation."""

import os
import sys

import build_rules
import document_rules
import folder_rules
import fuzz_rules
import prose_rules
import proto_rules
import public_rules
import text_rules
import type_rules
from source_tree import SourceTree

ALL_RULES = (text_rules.RULES + folder_rules.RULES + build_rules.RULES + proto_rules.RULES + prose_rules.RULES
             + type_rules.RULES + public_rules.RULES + document_rules.RULES + fuzz_rules.RULES)


def workspace() -> str:
    """The real tree: the test's files are links into it."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def violations(tree: SourceTree):
    return sorted(violation for rule in ALL_RULES for violation in rule(tree))


def main() -> int:
    tree = SourceTree(workspace())
    if not tree.exists("WORKSPACE") or len(tree.with_suffix(".h")) == 0:
        print(f"{tree.root} is not the workspace", file=sys.stderr)
        return 2
    found = violations(tree)
    for violation in found:
        print(violation)
    if not tree.exists(build_rules.ARCHITECTURE_FILE):
        print(f"SKIPPED: layers are not compared with {build_rules.ARCHITECTURE_FILE}, which is absent")
    print(f"{len(tree.files)} files, {len(ALL_RULES)} rules, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
