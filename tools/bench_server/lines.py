"""The lines that ours must reach, and whether measurements reach them: pure.

A measurement is a dictionary with row, server, variant, round and figures.
"""

from typing import Dict, List, NamedTuple, Optional

Measurements = List[dict]
ByRound = Dict[int, float]

ONE, SIX = "ours_one", "ours_six"
OURS = (ONE, SIX)


class Place(NamedTuple):
    """One figure of a row."""
    row: str
    figure: str
    variant: str = "plain"


class Line(NamedTuple):
    title: str
    server: str
    place: Place
    # True: at most `bound` times the other figure; False: at least.
    is_upper: bool
    bound: float
    # What the figure is divided by: the best peer's figure, the same figure of `own`, or nothing.
    peer: Optional[Place] = None
    own: Optional[str] = None  # a server of ours
    own_place: Optional[Place] = None

    def is_met(self, ratio: float) -> bool:
        return ratio <= self.bound if self.is_upper else ratio >= self.bound


_CPU = "cpu_s_per_1000"


def _of_peer(title: str, place: Place, is_upper: bool, bound: float, server: str = ONE,
             peer: Optional[Place] = None) -> Line:
    return Line(title, server, place, is_upper, bound, peer=peer or place)


def _alone(title: str, place: Place, is_upper: bool, bound: float, server: str) -> Line:
    return Line(title, server, place, is_upper, bound)


def _closed_lines(server: str) -> List[Line]:
    lines = []
    for connections in (64, 512):
        row = f"closed_{connections}"
        lines.append(_alone(f"{connections} connections: refused or failed", Place(row, "lost"), True, 0, server))
        lines.append(Line(f"{connections} connections: goodput against 8", server, Place(row, "answers_per_s"), False,
                          .95, own=server, own_place=Place("closed_8", "answers_per_s")))
    return lines


def _overload_lines(server: str) -> List[Line]:
    return [_alone("idle connections: p99 against none", Place("idle", "p99_ratio"), True, 1.2, server),
            _alone("idle connections: failed", Place("idle", "lost"), True, 0, server),
            _alone("abandoned query: share of its cost", Place("abandoned", "cost_share"), True, .05, server),
            _alone("plain beside heavy: p50 against alone", Place("beside_heavy", "p50_ratio"), True, 2, server),
            _alone("2 x overload: good answers against the most", Place("overload", "good_ratio"), False, .95, server),
            _alone("2 x overload: p99, ms", Place("overload", "p99_ms"), True, 1000, server),
            _of_peer("clients leave at 50 ms: share served", Place("give_up", "served_share"), False, 1, server)]


LINES = [
    _of_peer("processor s per 1,000 answers", Place("low", _CPU), True, .2),
    _of_peer("the same without snippets", Place("low", _CPU, "bare"), True, .6),
    _of_peer("cached, JSON", Place("cached", _CPU, "cached"), True, 1),
    _of_peer("cached, HTML", Place("cached", _CPU, "cached_html"), True, 2, peer=Place("cached", _CPU, "cached")),
    Line("default cluster against one process", SIX, Place("low", _CPU), True, 1.5, own=ONE,
         own_place=Place("low", _CPU)),
    _of_peer("highest rate with p99 <= 100 ms", Place("max_rate", "rate"), False, 4),
    _of_peer("the same, default cluster", Place("max_rate", "rate"), False, 2, server=SIX),
    *_closed_lines(ONE), *_overload_lines(ONE), *_closed_lines(SIX), *_overload_lines(SIX),
    _of_peer("index build, processor s", Place("build", "processor_s"), True, 1),
]


class Judgement(NamedTuple):
    ours: Optional[float]  # best round
    other: Optional[float]
    other_server: str
    ratios: List[float]  # of each round, worst first
    verdict: str  # met, missed, open (some rounds meet it), not measured


def by_round(measurements: Measurements, server: str, place: Place) -> ByRound:
    return {one["round"]: one["figures"][place.figure] for one in measurements
            if one["server"] == server and one["row"] == place.row and one["variant"] == place.variant
            and one["figures"].get(place.figure) is not None}


def best(values: ByRound, is_upper: bool) -> Optional[float]:
    if not values:
        return None
    return min(values.values()) if is_upper else max(values.values())


def best_peer(measurements: Measurements, line: Line) -> str:
    """The peer with the best figure of any round; empty if none has one."""
    found = {}
    for one in measurements:
        if one["server"] not in OURS:
            value = best(by_round(measurements, one["server"], line.peer), line.is_upper)
            if value is not None:
                found[one["server"]] = value
    if not found:
        return ""
    return (min if line.is_upper else max)(found, key=found.get)


def judge(measurements: Measurements, line: Line) -> Judgement:
    ours = by_round(measurements, line.server, line.place)
    other_server, others = "", {}
    if line.peer:
        other_server = best_peer(measurements, line)
        others = by_round(measurements, other_server, line.peer)
    elif line.own:
        other_server = line.own
        others = by_round(measurements, line.own, line.own_place)
    has_other = line.peer is not None or line.own is not None
    other = best(others, line.is_upper)
    if not ours or (has_other and not other):
        return Judgement(best(ours, line.is_upper), other, other_server, [], "not measured")
    ratios = [value / (others.get(number, other) or other) if has_other else value for number, value in ours.items()]
    ratios.sort(reverse=line.is_upper)
    met = [line.is_met(ratio) for ratio in ratios]
    verdict = "met" if all(met) else "open" if any(met) else "missed"
    return Judgement(best(ours, line.is_upper), other, other_server, ratios, verdict)
