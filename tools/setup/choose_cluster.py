#!/usr/bin/env python3
"""Chooses the cluster that ./tools/up starts, by the processors of the machine and by the index.

    choose_cluster.py [--kind=single|replicated] [--index=FOLDER] [--processors=N]

Prints four lines: the cluster spec, the folder of its index, the options of //tools:build_index that
make such an index, and the reason. An index that is given decides by its partitions.
Status: 0 printed; 1 no shipped cluster fits the index; 2 wrong arguments.
"""

import argparse
import json
import os
import sys
from typing import NamedTuple, Optional

# Up to this many processors a request costs less in one process than it gains by several: calls
# between processes of one machine only add copies and switches.
SINGLE_PROCESSORS_MAX = 4
_MANIFEST_SIZE_MAX = 16 << 20


class Layout(NamedTuple):
    """Partitions of an index tier and of the document servers."""
    tiers: int
    documents: int


class ShippedCluster(NamedTuple):
    kind: str
    spec: str
    index: str
    layout: Layout
    summary: str


SINGLE = ShippedCluster("single", "data/clusters/small.textproto", "data/var/single", Layout(1, 1),
                        "one process")
REPLICATED = ShippedCluster("replicated", "data/clusters/dev.textproto", "data/var/index", Layout(4, 2),
                            "six processes, of which any one may fail")
SHIPPED = (SINGLE, REPLICATED)


class NoClusterFits(Exception):
    """The message says which index, and what to do."""


def quota_processors(text: str) -> Optional[int]:
    """The limit that the file cpu.max of a control group sets, rounded up; None without one."""
    words = text.split()
    if len(words) != 2 or not words[0].isdigit() or not words[1].isdigit():
        return None
    return max(1, -(-int(words[0]) // int(words[1])))


def usable_processors() -> int:
    """Those that this process may run on, within the quota of its container."""
    count = len(os.sched_getaffinity(0))
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota = quota_processors(file.read())
    except OSError:
        quota = None
    return min(count, quota) if quota else count


def layout_of(folder: str) -> Layout:
    """The partitions of a built index. Raises OSError, ValueError or KeyError if it cannot be read."""
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        parts = json.loads(file.read(_MANIFEST_SIZE_MAX))["parts"]
    counts = {str(part["name"]): len(part["partitions"]) for part in parts}
    return Layout(counts["tier1"], counts["docs"])


def choose_by_processors(processors: int) -> ShippedCluster:
    return SINGLE if processors <= SINGLE_PROCESSORS_MAX else REPLICATED


def choose_by_index(folder: str, layout: Layout) -> ShippedCluster:
    for cluster in SHIPPED:
        if cluster.layout == layout:
            return cluster
    raise NoClusterFits(f"the index in {folder} has {layout.tiers} partitions of each tier and {layout.documents} of "
                        "documents, which no shipped cluster has; give a spec with as many: --spec=FILE")


def other_way(cluster: ShippedCluster) -> str:
    other = REPLICATED if cluster is SINGLE else SINGLE
    return f"for {other.summary}: ./tools/up --{other.kind}"


def lines(cluster: ShippedCluster, index: str, reason: str) -> str:
    options = f"--partitions={cluster.layout.tiers} --doc_partitions={cluster.layout.documents}"
    return f"{cluster.spec}\n{index}\n{options}\n{cluster.summary} ({reason}; {other_way(cluster)})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=[cluster.kind for cluster in SHIPPED])
    parser.add_argument("--index", default="")
    parser.add_argument("--processors", type=int, default=0)
    options = parser.parse_args()
    processors = options.processors or usable_processors()
    try:
        if options.index:
            layout = layout_of(options.index)
            cluster = choose_by_index(options.index, layout)
            if options.kind not in (None, cluster.kind):
                raise NoClusterFits(f"--{options.kind} needs an index with other partitions than that in {options.index}")
            reason = f"the index has {layout.tiers} partition{'s' if layout.tiers > 1 else ''}"
        else:
            cluster = next((one for one in SHIPPED if one.kind == options.kind), choose_by_processors(processors))
            reason = f"--{options.kind}" if options.kind else f"{processors} processor{'s' if processors > 1 else ''}"
    except NoClusterFits as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"cannot read the index in {options.index}: {error!r}", file=sys.stderr)
        return 1
    print(lines(cluster, options.index or cluster.index, reason))
    return 0


if __name__ == "__main__":
    sys.exit(main())
