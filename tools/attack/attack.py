#!/usr/bin/env python3
"""Starts real clusters on loopback, attacks them actor by actor, and reports what was tried, measured and held.

    attack                                            every actor, about ten minutes
    attack --actors=disk --changes=10000 --seed=7     10,000 flips and smears in served files
    attack --actors=client,request --seconds=10       longer measurements of each row
    attack --out=DIR                                  report.json and report.md besides what is printed

Status: 0 every row that could be measured is held; 1 a row is not held, or an actor failed; 2 wrong arguments.
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from typing import Callable, Dict, Iterator, List

import client_actor
import conformance_actor
import disk_actor
import member_actor
import neighbour_actor
import report
import request_actor
from rows import ACTORS, Row, exit_status, judged
from server_process import allow_descriptors
from target import Indexes, Programs, Setting

Actor = Callable[[Setting, Indexes], Iterator[Row]]
RUNS: Dict[str, Actor] = {
    "disk": disk_actor.run,
    "client": client_actor.run,
    "request": request_actor.run,
    "http": conformance_actor.run,
    "neighbour": neighbour_actor.run,
    "member": member_actor.run,
}
_PROGRAMS = ("cluster", "build_index", "certificates", "neptuned")


def parse(arguments: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--actors", default=",".join(RUNS), help="names with commas between them: " + ", ".join(RUNS))
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement that takes time")
    parser.add_argument("--changes", type=int, default=1000, help="flips and smears in served files")
    parser.add_argument("--seed", type=int, default=0, help="default: from the clock; it is printed")
    parser.add_argument("--out", help="folder for report.json and report.md")
    parser.add_argument("--documents", help="JSON Lines to index; default: the pages of the tests")
    parser.add_argument("--resolution_ms", type=float, default=1,
                        help="differences of latencies below this are not seen; more on a busy machine")
    for name in _PROGRAMS + ("pages",):
        parser.add_argument("--" + name, required=True, help=argparse.SUPPRESS)  # where this tree's files are
    parser.add_argument("--spec", action="append", default=[], help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    unknown = set(options.actors.split(",")) - set(RUNS)
    if unknown:
        parser.error(f"there is no actor {sorted(unknown)}; there are {', '.join(RUNS)}")
    if options.changes < 1 or options.seconds <= 0:
        parser.error("--changes and --seconds must be above 0")
    options.seed = options.seed or time.time_ns() % 1_000_000
    return options


def programs_of(options: argparse.Namespace) -> Programs:
    caller = os.environ.get("BUILD_WORKING_DIRECTORY", os.getcwd())
    documents = os.path.join(caller, options.documents) if options.documents else os.path.abspath(options.pages)
    specs = {os.path.basename(path).split(".")[0]: os.path.abspath(path) for path in options.spec}
    return Programs(*(os.path.abspath(getattr(options, name)) for name in _PROGRAMS), specs, documents)


def run_actor(name: str, setting: Setting, indexes: Indexes) -> Iterator[Row]:
    """Its rows; the last one says so if it did not come to its end."""
    began = time.monotonic()
    try:
        yield from RUNS[name](setting, indexes)
    except (OSError, AssertionError, LookupError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
        traceback.print_exc()
        yield judged(name, "the actor itself", "-", "it comes to its end", f"{type(error).__name__}: {str(error)[-300:]}",
                     False)
    finally:
        setting.say(f"{name}: {time.monotonic() - began:.0f} s")


def run(options: argparse.Namespace, folder: str) -> int:
    setting = Setting(programs_of(options), folder, options.seconds, options.changes, options.seed, options.resolution_ms,
                      lambda text: print(text, file=sys.stderr, flush=True))
    setting.say(f"seed {options.seed}")
    indexes = Indexes(setting)
    command = "attack " + shlex.join(f"--{name}={getattr(options, name)}" for name in ("actors", "seconds", "changes"))
    rows: List[Row] = []
    for name in ACTORS:
        if name in options.actors.split(","):
            rows += run_actor(name, setting, indexes)
    text = report.markdown(rows, options.seed, command)
    print(text)
    if options.out:
        out = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", os.getcwd()), options.out)
        os.makedirs(out, exist_ok=True)
        for name, contents in (("report.md", text), ("report.json", report.as_json(rows, options.seed, command))):
            with open(os.path.join(out, name), "w", encoding="utf-8") as file:
                file.write(contents)
    return exit_status(rows)


def main() -> int:
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that clusters are stopped
    allow_descriptors()
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        return run(options, folder)


if __name__ == "__main__":
    sys.exit(main())
