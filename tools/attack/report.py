"""The report of a run as Markdown and JSON: pure."""

import json
from typing import List

from rows import ACTORS, NOT_HELD, VERDICTS, Row

COLUMNS = ("attack", "tried", "line", "measured", "verdict")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(rows: List[Row]) -> str:
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for row in rows:
        verdict = f"**{row.verdict}**" if row.verdict == NOT_HELD else row.verdict
        cells = (row.attack, row.tried, row.line, row.figure)
        lines.append("| " + " | ".join(map(_cell, cells)) + f" | {verdict} |")
    return "\n".join(lines)


def summary(rows: List[Row]) -> str:
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def markdown(rows: List[Row], seed: int, command: str) -> str:
    """One section per actor, in the order of ACTORS."""
    parts = [f"# Attacks\n\n`{command}`, seed {seed}: {summary(rows)}."]
    for actor, title in ACTORS.items():
        of_actor = [row for row in rows if row.actor == actor]
        if of_actor:
            parts.append(f"## {actor}: {title}\n\n{_table(of_actor)}")
    return "\n\n".join(parts) + "\n"


def as_json(rows: List[Row], seed: int, command: str) -> str:
    return json.dumps({"seed": seed, "command": command, "summary": summary(rows),
                       "rows": [row.as_dict() for row in rows]}, indent=1) + "\n"
