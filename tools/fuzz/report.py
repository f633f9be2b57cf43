"""What a guided run of a fuzz target has shown: its log, the lines that ran, the inputs worth keeping, and the table.

Pure: no files, no processes. The list of targets is registry.json; README.md has its form.
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

# A line of libFuzzer: "#4096: cov: 512 ft: 900 corp: 44 exec/s: 2048 oom/timeout/crash: 0/0/0 time: 3s job: 2".
_PROGRESS = re.compile(r"^#(\d+):? .*\bcov: (\d+) .*?\bexec/s:? (\d+)", re.MULTILINE)
_RATES = re.compile(r"^#\d+:? .*?\bexec/s:? (\d+)", re.MULTILINE)
# Inputs that libFuzzer has put aside, by the beginning of their names.
FINDINGS = ("crash-", "leak-", "oom-", "timeout-", "slow-unit-")
# A slow input is reported, but fails nothing.
FAILURES = FINDINGS[:-1]

Counts = Dict[int, int]  # how often a line ran, by its number


class Progress(NamedTuple):
    runs: int = 0
    rate: int = 0  # inputs a second, the mean of what the log says


class Share(NamedTuple):
    covered: int
    lines: int

    def __str__(self) -> str:
        return f"{100 * self.covered / self.lines:.0f} %" if self.lines else "-"


class Result(NamedTuple):
    target: str
    minutes: float = 0
    runs: int = 0
    rate: int = 0
    kept: int = 0
    shares: Dict[str, Share] = {}  # by parser file
    missed: Tuple[str, ...] = ()  # places that no input has reached
    findings: Tuple[str, ...] = ()
    problem: str = ""  # why there are no figures

    def failures(self) -> List[str]:
        found = [f"{self.target}: {self.problem}"] if self.problem else []
        found += [f"{self.target}: does not reach {place}" for place in self.missed]
        return found + [f"{self.target}: {name}" for name in self.findings if name.startswith(FAILURES)]


def progress(log: str) -> Progress:
    """The last count of runs in a log of libFuzzer, and the mean of its rates."""
    lines = _PROGRESS.findall(log)
    if not lines:
        return Progress()
    rates = [int(rate) for rate in _RATES.findall(log)]
    return Progress(int(lines[-1][0]), sum(rates) // len(rates))


def line_counts(lcov: str, files: Iterable[str]) -> Dict[str, Counts]:
    """The counts of these files, which are relative to the tree, in what `llvm-cov export -format=lcov` prints."""
    wanted = list(files)
    counts: Dict[str, Counts] = {}
    current: Optional[Counts] = None
    for line in lcov.split("\n"):
        if line.startswith("SF:"):
            path = line[3:]
            name = next((file for file in wanted if path == file or path.endswith("/" + file)), None)
            current = None if name is None else counts.setdefault(name, {})
        elif line.startswith("DA:") and current is not None:
            number, count = line[3:].split(",")[:2]
            current[int(number)] = current.get(int(number), 0) + int(count)
    return counts


def share(counts: Counts) -> Share:
    return Share(sum(count > 0 for count in counts.values()), len(counts))


def line_numbers(source: str, text: str) -> List[int]:
    """The numbers of the lines that have the text."""
    return [number for number, line in enumerate(source.split("\n"), 1) if text in line]


def missed_places(reaches: Dict[str, str], sources: Dict[str, str], counts: Dict[str, Counts]) -> List[str]:
    """The places of a target that no input has reached: "FILE: TEXT". A file with an empty text has no such place."""
    missed = []
    for file, text in sorted(reaches.items()):
        ran = counts.get(file, {})
        if text and not any(ran.get(number, 0) > 0 for number in line_numbers(sources[file], text)):
            missed.append(f"{file}: {text}")
    return missed


def worth_keeping(new: Dict[str, int], size_max: int, total_max: int) -> List[str]:
    """Names of the inputs to keep, of which `new` has the sizes: the smallest first, within both limits."""
    kept, total = [], 0
    for name, size in sorted(new.items(), key=lambda item: (item[1], item[0])):
        if size > size_max or total + size > total_max:
            break
        kept.append(name)
        total += size
    return kept


def _number(value: int) -> str:
    return f"{value:,}"


def _row(result: Result) -> str:
    shares = ", ".join(f"`{file.rsplit('/', 1)[-1]}` {part}" for file, part in sorted(result.shares.items()))
    findings = ", ".join([*result.findings, *(f"misses `{place}`" for place in result.missed)])
    cells = (f"`{result.target}`", f"{result.minutes:g}", _number(result.runs), _number(result.rate),
             str(result.kept), shares or "-", result.problem or findings or "none")
    return "| " + " | ".join(cells) + " |"


def table(results: Iterable[Result]) -> str:
    """A row for each target, and their sum."""
    rows = list(results)
    head = ("| target | minutes | runs | runs/s | new entries | lines of the parser that ran | findings |",
            "|---|---|---|---|---|---|---|")
    findings = sum(len(row.failures()) for row in rows)
    total = (f"| {len(rows)} targets | {sum(row.minutes for row in rows):g} | {_number(sum(row.runs for row in rows))} "
             f"| | {sum(row.kept for row in rows)} | | {findings} |")
    return "\n".join([*head, *map(_row, rows), total]) + "\n"
