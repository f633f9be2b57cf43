"""The rows of a report and their verdicts: pure.

A row is held only if something was tried and its figure reaches the line; what could not be tried is not held.
"""

from dataclasses import asdict, dataclass
from typing import Iterable, List, Optional

HELD, NOT_HELD, NOT_MEASURED = "held", "NOT HELD", "not measured"
# Shown with its figure, and not promised: the row says where that is written.
KNOWN_LIMIT = "known limit"
VERDICTS = (HELD, NOT_HELD, NOT_MEASURED, KNOWN_LIMIT)

ACTORS = {
    "disk": "a disk that goes bad",
    "client": "one client address",
    "request": "single requests within the limits",
    "http": "HTTP/1.1 conformance",
    "neighbour": "a neighbour or a browser page without key",
    "member": "a member that went bad",
}


@dataclass(frozen=True)
class Row:
    actor: str
    attack: str  # short name, unique within the actor
    tried: str
    line: str
    figure: str
    verdict: str

    def as_dict(self) -> dict:
        return asdict(self)


def judged(actor: str, attack: str, tried: str, line: str, figure: str, is_held: bool) -> Row:
    return Row(actor, attack, tried, line, figure, HELD if is_held else NOT_HELD)


def not_measured(actor: str, attack: str, line: str, reason: str) -> Row:
    return Row(actor, attack, "-", line, reason, NOT_MEASURED)


def known_limit(actor: str, attack: str, tried: str, line: str, figure: str) -> Row:
    return Row(actor, attack, tried, line, figure, KNOWN_LIMIT)


def counted(actor: str, attack: str, tried_count: int, tried: str, line: str, faults: List[str], shown: int = 3) -> Row:
    """A row whose line is that none of what was tried shows a fault. Nothing tried: not measured."""
    if tried_count == 0:
        return not_measured(actor, attack, line, "nothing was tried")
    figure = f"{len(faults)} of {tried_count}"
    if faults:
        figure += ": " + "; ".join(faults[:shown]) + ("; ..." if len(faults) > shown else "")
    return judged(actor, attack, tried, line, figure, not faults)


def bounded(actor: str, attack: str, tried: str, line: str, value: Optional[float], bound: float, figure: str) -> Row:
    """A row whose value must be at most the bound. None: it was not measured, and `figure` says why."""
    if value is None:
        return not_measured(actor, attack, line, figure)
    return judged(actor, attack, tried, line, figure, value <= bound)


def exit_status(rows: Iterable[Row]) -> int:
    """1 if a row is not held or there is none that is."""
    verdicts = [row.verdict for row in rows]
    return 1 if NOT_HELD in verdicts or HELD not in verdicts else 0
