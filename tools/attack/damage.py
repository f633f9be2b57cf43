"""Which files are damaged and how: pure, from a seed.

A change is a flipped bit, or a smear: up to 64 bytes with others in their place. A quarter of them hit the first 256
bytes of a file, where headers and tables are.
"""

import os
import random
from typing import Dict, List, NamedTuple

SMEAR_MAX = 64
HEAD_SIZE = 256
HEAD_SHARE = .25

# Of what an index folder holds: never read by a node that serves, or not data.
_UNREAD = ("LOCK", "LOG", "IDENTITY", "manifest.json", "cluster.textproto")


def kind_of(path: str) -> str:
    """The kind of a served file by its name; empty if nodes do not serve it. Folders of an index name the service."""
    parts = path.split("/")
    service, name = parts[0], parts[-1]
    if name in _UNREAD or name.startswith((".", "LOG.", "OPTIONS-")) or len(parts) < 2:
        return ""
    if name.endswith(".sst"):
        name = "sst"
    elif name.startswith("MANIFEST-"):
        name = "MANIFEST"
    elif name.endswith(".log"):
        name = "log"
    if service.startswith("tier"):
        return f"{'rocksdb_postings' if service.endswith('rocksdb_postings') else 'segment tier'}: {name}"
    if service.startswith("docs"):
        return f"{'flat_file' if service.endswith('flat_file') else 'rocksdb documents'}: {name}"
    return ""


def partition_of(path: str) -> str:
    """Service and partition that a file belongs to: they are withdrawn together."""
    return "/".join(path.split("/")[:2])


def served_files(root: str, folders: List[str]) -> Dict[str, List[str]]:
    """Files below the root by kind, sorted; empty ones cannot be damaged."""
    found: Dict[str, List[str]] = {}
    for folder in folders:
        for directory, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.relpath(os.path.join(directory, name), root)
                kind = kind_of(path)
                if kind and os.path.getsize(os.path.join(root, path)) > 0:
                    found.setdefault(kind, []).append(path)
    return {kind: sorted(paths) for kind, paths in sorted(found.items())}


class Change(NamedTuple):
    path: str
    offset: int
    before: bytes
    after: bytes

    def text(self) -> str:
        return f"{self.path}+{self.offset}: {self.before.hex()} to {self.after.hex()}"


def draw_change(rng: random.Random, path: str, contents: bytes) -> Change:
    """REQUIRES: contents are not empty."""
    limit = min(len(contents), HEAD_SIZE) if rng.random() < HEAD_SHARE else len(contents)
    offset = rng.randrange(limit)
    if rng.random() < .5:
        before = contents[offset:offset + 1]
        return Change(path, offset, before, bytes([before[0] ^ (1 << rng.randrange(8))]))
    before = contents[offset:offset + rng.randrange(1, SMEAR_MAX + 1)]
    after = rng.randbytes(len(before))
    if after == before:
        after = bytes([after[0] ^ 1]) + after[1:]
    return Change(path, offset, before, after)


def draw_round(rng: random.Random, files: Dict[str, List[str]]) -> List[str]:
    """One file of each partition, so that each is served when it is damaged; kinds in turn by chance."""
    by_partition: Dict[str, Dict[str, List[str]]] = {}
    for kind, paths in files.items():
        for path in paths:
            by_partition.setdefault(partition_of(path), {}).setdefault(kind, []).append(path)
    chosen = []
    for partition in sorted(by_partition):
        kinds = by_partition[partition]
        chosen.append(rng.choice(kinds[rng.choice(sorted(kinds))]))
    rng.shuffle(chosen)
    return chosen


def cuts(size: int) -> List[int]:
    """Lengths that a file of that size is cut to."""
    return sorted({0, min(100, size - 1), size // 2, size - 1})
