"""Runs fuzz targets with coverage feedback, keeps the inputs that find new code, and reports what was found.

    ./tools/check fuzz                               # every target for 5 minutes, two at a time
    ./tools/check fuzz --minutes=60 --targets=wire   # targets whose label has this
    ./tools/check fuzz --minutes=90                  # afterwards: 30 more minutes for those, 90 for the others

A run that is stopped continues where it was: what a target has learned, and for how long it ran, is in --out.
REQUIRES: the packages of tools/packages_fuzz.txt, which ./tools/check installs.

Exit status: 0 nothing was found; 1 an input fails, or a target does not reach a place that registry.json names; 2 wrong
arguments; 3 a target cannot be built.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
from typing import Dict, List

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import report  # noqa: E402

TREE = os.path.dirname(os.path.dirname(HERE))
REGISTRY = os.path.join(HERE, "registry.json")
LLVM = "-16"
# Stack of a node's user-level threads (neptune/node/node.cc).
STACK_KIB = 512
# An input that takes longer or more memory than this is a finding.
TIMEOUT_S = 25
MEMORY_MIB = 2048
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "GLOG_minloglevel": "4",
    "ASAN_SYMBOLIZER_PATH": f"/usr/bin/llvm-symbolizer{LLVM}",
}


@dataclasses.dataclass
class Options:
    minutes: float
    jobs: int
    out: str
    stack_kib: int
    entry_size_max: int
    keeps: bool


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./tools/check fuzz", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=5, help="for each target, earlier runs included (5)")
    parser.add_argument("--targets", default="", help="a regular expression; only targets whose label has it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time (processors)")
    parser.add_argument("--out", default=os.path.join(TREE, "data/var/fuzz"), help="corpora, logs, findings, table.md")
    parser.add_argument("--stack_kib", type=int, default=STACK_KIB, help="stack of the target (as in production)")
    parser.add_argument("--entry_bytes", type=int, default=4096, help="larger inputs are not kept in the tree (4096)")
    parser.add_argument("--no_keep", action="store_true", help="adds no inputs to the tree")
    parser.add_argument("--list", action="store_true", help="prints the targets and ends")
    return parser.parse_args(arguments)


def chosen(registry, pattern: str) -> Dict[str, Dict]:
    wanted = re.compile(pattern)
    return {label: row for label, row in sorted(registry["targets"].items()) if wanted.search(label)}


def build(labels: List[str]) -> str:
    """Builds the targets; returns the folder of their programs."""
    subprocess.run(["bazel", "build", "--config=fuzz", "--keep_going", "--", *labels], cwd=TREE, check=False)
    return subprocess.run(["bazel", "info", "--config=fuzz", "bazel-bin"], cwd=TREE, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()


def files_below(folder: str) -> List[str]:
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder, followlinks=True) for name in names)


def text_of(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


class Target:
    """One target: its program, its seeds, and what earlier runs have left."""

    def __init__(self, label: str, row: Dict, programs: str, options: Options):
        self.label = label
        self.row = row
        self.options = options
        package, _, name = label.removeprefix("//").partition(":")
        self.program = os.path.join(programs, package, name)
        self.out = os.path.join(options.out, package.replace("/", "."), name)
        self.corpus = os.path.join(self.out, "corpus")
        self.seeds = os.path.join(self.out, "seeds")
        self.findings = os.path.join(self.out, "findings")
        self.state_file = os.path.join(self.out, "state.json")
        self.state = {"seconds": 0, "runs": 0, "rate": 0}

    def run(self) -> report.Result:
        if not os.path.exists(self.program):
            return report.Result(self.label, problem="it is not built")
        for folder in (self.corpus, self.findings):
            os.makedirs(folder, exist_ok=True)
        if os.path.exists(self.state_file):
            self.state = json.loads(text_of(self.state_file))
        self._copy_seeds()
        left = int(60 * self.options.minutes) - self.state["seconds"]
        if left > 0:
            self._fuzz(left)
        kept = self._keep() if self.options.keeps and "keep" in self.row else 0
        counts, problem = self._count_lines()
        sources = {file: text_of(os.path.join(TREE, file)) for file in self.row["reaches"]}
        return report.Result(
            self.label, round(self.state["seconds"] / 60, 1), self.state["runs"], self.state["rate"], kept,
            {file: report.share(counts.get(file, {})) for file in self.row["reaches"]},
            () if problem else tuple(report.missed_places(self.row["reaches"], sources, counts)),
            tuple(name for name in sorted(os.listdir(self.findings)) if name.startswith(report.FINDINGS)), problem)

    def _copy_seeds(self) -> None:
        """What the target's `corpus` has, from the files that Bazel has put beside the program."""
        shutil.rmtree(self.seeds, ignore_errors=True)
        os.makedirs(self.seeds)
        for path in files_below(self.program + ".runfiles"):
            base = os.path.basename(path)
            if base in (os.path.basename(self.program), "MANIFEST") or re.search(r"\.so(\.\d+)*$", base):
                continue
            with open(path, "rb") as file:
                name = hashlib.sha1(file.read()).hexdigest()
            shutil.copyfile(path, os.path.join(self.seeds, name))

    def _execute(self, arguments: List[str], log: str, profile: str = "/dev/null") -> int:
        def limit_stack():
            size = self.options.stack_kib << 10
            resource.setrlimit(resource.RLIMIT_STACK, (size, resource.getrlimit(resource.RLIMIT_STACK)[1]))
            os.nice(5)

        # A program that ends by a finding removes none of its files.
        scratch = os.path.join(self.out, "scratch")
        shutil.rmtree(scratch, ignore_errors=True)
        os.makedirs(scratch)
        environment = {**os.environ, **ENVIRONMENT, "LLVM_PROFILE_FILE": profile, "TEST_TMPDIR": scratch}
        with open(os.path.join(self.out, log), "ab") as out:
            return subprocess.run([self.program, *arguments], cwd=self.out, env=environment, stdout=out, stderr=out,
                                  stdin=subprocess.DEVNULL, preexec_fn=limit_stack, check=False).returncode

    def _limits(self) -> List[str]:
        return [f"-timeout={TIMEOUT_S}", f"-rss_limit_mb={MEMORY_MIB}", f"-artifact_prefix={self.findings}/"]

    def _fuzz(self, seconds: int) -> None:
        log = os.path.join(self.out, "fuzz.log")
        before = os.path.getsize(log) if os.path.exists(log) else 0
        self._execute([
            "-fork=1", "-ignore_crashes=1", "-ignore_ooms=1", "-ignore_timeouts=1", f"-max_total_time={seconds}",
            "-use_value_profile=1", f"-max_len={self.row.get('size_max', 4096)}", *self._limits(), self.corpus, self.seeds,
        ], "fuzz.log")
        with open(log, encoding="utf-8", errors="replace") as file:
            file.seek(before)
            made = report.progress(file.read())
        self.state["seconds"] += seconds
        self.state["runs"] += made.runs
        self.state["rate"] = made.rate
        with open(self.state_file, "w", encoding="utf-8") as file:
            json.dump(self.state, file)

    def _keep(self) -> int:
        """Adds to the tree the inputs that run code which the seeds do not; returns their number."""
        merged = os.path.join(self.out, "merged")
        shutil.rmtree(merged, ignore_errors=True)
        shutil.copytree(self.seeds, merged)
        self._execute(["-merge=1", *self._limits(), merged, self.corpus], "merge.log")
        new = {name: os.path.getsize(os.path.join(merged, name))
               for name in os.listdir(merged) if not os.path.exists(os.path.join(self.seeds, name))}
        folder = os.path.join(TREE, self.row["keep"])
        os.makedirs(folder, exist_ok=True)
        # What is kept already counts: corpora in the tree are read by everybody, and stay small.
        room = 16 * self.options.entry_size_max - sum(map(os.path.getsize, files_below(folder)))
        names = report.worth_keeping(new, self.options.entry_size_max, room)
        for name in names:
            shutil.copyfile(os.path.join(merged, name), os.path.join(folder, name[:16]))
        return len(names)

    def _count_lines(self):
        """How often each line ran over all inputs, by file; and why that is not known."""
        raw, data = os.path.join(self.out, "lines.profraw"), os.path.join(self.out, "lines.profdata")
        if os.path.exists(raw):
            os.remove(raw)
        if self._execute(["-runs=0", *self._limits(), self.corpus, self.seeds], "lines.log", raw) != 0:
            return {}, "its inputs fail; see lines.log"
        merge = subprocess.run([f"llvm-profdata{LLVM}", "merge", "-sparse", raw, "-o", data], check=False)
        if merge.returncode != 0:
            return {}, "its counts cannot be read"
        lcov = subprocess.run([f"llvm-cov{LLVM}", "export", "-format=lcov", f"-instr-profile={data}", self.program],
                              check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        os.remove(raw)
        return report.line_counts(lcov.stdout, self.row["reaches"]), ""


def main(arguments) -> int:
    flags = parse(arguments)
    rows = chosen(json.loads(text_of(REGISTRY)), flags.targets)
    if not rows:
        print(f"fuzz: no target has '{flags.targets}'", file=sys.stderr)
        return 2
    if flags.list:
        print("\n".join(rows))
        return 0
    options = Options(flags.minutes, flags.jobs, os.path.abspath(flags.out), flags.stack_kib, flags.entry_bytes,
                      not flags.no_keep)
    programs = build(list(rows))
    results: Dict[str, report.Result] = {}
    lock = threading.Lock()

    def run_one(label: str) -> None:
        result = Target(label, rows[label], programs, options).run()
        with lock:
            results[label] = result
            print(f"{len(results)}/{len(rows)} {label}: {result.runs:,} runs, "
                  f"{len(result.failures())} findings", file=sys.stderr)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_one, label) for label in rows]):
            done.result()
    written = report.table(results[label] for label in rows)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "table.md"), "w", encoding="utf-8") as file:
        file.write(written)
    print(written)
    failures = [line for label in rows for line in results[label].failures()]
    print("\n".join(failures), file=sys.stderr)
    if any(result.problem == "it is not built" for result in results.values()):
        return 3
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
