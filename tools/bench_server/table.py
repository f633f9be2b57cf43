"""The tables of a run: lines with verdicts, and every figure by server. Pure."""

from typing import List, Optional

import lines
from lines import LINES, Judgement, Line, Measurements, Place

# Figures of the second table: place, title, whether less is better.
FIGURES = [
    (Place("start", "seconds"), "start to the first answer, s", True),
    (Place("start", "pss_mib"), "memory, PSS MiB", True),
    (Place("start", "anonymous_mib"), "of it anonymous", True),
    (Place("build", "processor_s"), "index build, processor s", True),
    (Place("build", "megabytes"), "index, MB", True),
    (Place("low", "p50_ms"), "low rate: p50 ms", True),
    (Place("low", "p99_ms"), "p99 ms", True),
    (Place("low", "cpu_s_per_1000"), "processor s per 1,000", True),
    (Place("low", "bytes_per_answer"), "bytes of an answer", True),
    (Place("low", "cpu_s_per_1000", "bare"), "without snippets, processor s per 1,000", True),
    (Place("cached", "cpu_s_per_1000", "cached"), "cached, processor s per 1,000", True),
    (Place("cached", "cpu_s_per_1000", "cached_html"), "cached pages, processor s per 1,000", True),
    *[(Place(f"closed_{count}", "answers_per_s"), f"{count} connections: answers/s", False) for count in (1, 8, 64, 512)],
    *[(Place(f"closed_{count}", "lost_share"), f"{count} connections: share lost", True) for count in (64, 512)],
    (Place("max_rate", "rate"), "highest rate with p99 <= 100 ms", False),
    (Place("overload", "good_per_s"), "2 x overload: good answers/s", False),
    (Place("overload", "p99_ms"), "2 x overload: p99 ms", True),
    (Place("give_up", "served_share"), "clients leave at 50 ms: share served", False),
    (Place("abandoned", "cost_share"), "abandoned query: share of its cost", True),
    (Place("beside_heavy", "p50_ms"), "beside heavy queries: p50 ms", True),
    (Place("idle", "alive"), "idle connections alive", False),
    (Place("idle", "p99_ms"), "with them: p99 ms", True),
    (Place("idle", "lost_share"), "with them: share lost", True),
]


def number(value: Optional[float]) -> str:
    if value is None:
        return "-"
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def markdown(rows: List[List[str]]) -> str:
    lines_of_text = ["| " + " | ".join(row) + " |" for row in rows]
    lines_of_text.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines_of_text)


def _line_row(line: Line, found: Judgement) -> List[str]:
    of_other = line.peer is not None or line.own is not None
    bound = f"{'<=' if line.is_upper else '>='} {line.bound:g}{' x' if of_other else ''}"
    other = f"{number(found.other)} ({found.other_server})" if of_other and found.other is not None else "-"
    ratio = "-"
    if found.ratios:
        ends = sorted({number(found.ratios[0]), number(found.ratios[-1])}, key=lambda text: text != number(found.ratios[-1]))
        ratio = " to ".join(ends)
    return [line.title, line.server, bound, number(found.ours), other, ratio, found.verdict]


def lines_table(measurements: Measurements) -> str:
    rows = [["row", "of", "line", "best round", "other", "ratio, best to worst round", "verdict"]]
    for line in LINES:
        rows.append(_line_row(line, lines.judge(measurements, line)))
    return markdown(rows)


def figures_table(measurements: Measurements) -> str:
    servers = sorted({one["server"] for one in measurements}, key=lambda name: (name not in lines.OURS, name))
    rows = [["best round"] + servers]
    for place, title, is_upper in FIGURES:
        values = [lines.best(lines.by_round(measurements, server, place), is_upper) for server in servers]
        if any(value is not None for value in values):
            rows.append([title] + [number(value) for value in values])
    return markdown(rows)
