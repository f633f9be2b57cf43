#!/usr/bin/env python3
"""Counts the tests of a `bazel test` run from what Bazel wrote down about it.

    count_tests.py [--also_failed=WHAT] EVENTS

EVENTS is a file of --build_event_json_file. WHAT names something else that failed and counts one.

Names each test that failed and each that skipped something, then prints the line
`N passed, N failed, N skipped` (targets). A target of which every case was skipped counts as
skipped; it never counts as passed. A target that was asked for and has no result counts as failed.
Status: 0 nothing failed and something passed; 1 otherwise; 2 EVENTS cannot be read.
"""

import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree
from typing import Dict, Iterable, List, NamedTuple, Set


class Outcome(NamedTuple):
    passed: List[str]
    failed: Dict[str, str]  # with the reason
    skipped: List[str]
    skipped_cases: List[str]


class Cases(NamedTuple):
    run: int
    skipped: List[str]


def read_events(path: str) -> Iterable[dict]:
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                # Only the last line of a run that was cut off can be incomplete.
                return


def cases_of(xml_path: str) -> Cases:
    """Cases of one test.xml. A file that is absent or damaged counts as one case that ran."""
    try:
        root = ElementTree.parse(xml_path).getroot()
    except (OSError, ElementTree.ParseError):
        return Cases(run=1, skipped=[])
    run, skipped = 0, []
    for case in root.iter("testcase"):
        if case.get("result") == "skipped" or case.find("skipped") is not None:
            skipped.append(f"{case.get('classname', '')}.{case.get('name', '')}".strip("."))
        else:
            run += 1
    return Cases(run, skipped)


def result_files(event: dict) -> List[str]:
    return [
        urllib.parse.unquote(re.sub(r"^file://", "", output.get("uri", "")))
        for output in event.get("testResult", {}).get("testActionOutput", [])
        if output.get("name") == "test.xml"
    ]


def outcome_of(events: Iterable[dict]) -> Outcome:
    asked: Set[str] = set()
    status: Dict[str, str] = {}
    xml_files: Dict[str, List[str]] = {}
    for event in events:
        about = event.get("id", {})
        if "targetConfigured" in about and event.get("configured", {}).get("testSize"):
            asked.add(about["targetConfigured"]["label"])
        elif "testResult" in about:
            xml_files.setdefault(about["testResult"]["label"], []).extend(result_files(event))
        elif "testSummary" in about:
            summary = event.get("testSummary", {})
            status[about["testSummary"]["label"]] = summary.get("overallStatus", "NO_STATUS")
    result = Outcome([], {}, [], [])
    for label in sorted(asked | set(status)):
        if status.get(label) not in ("PASSED", "FLAKY"):
            result.failed[label] = status.get(label, "NO_STATUS").lower().replace("_", " ")
            continue
        cases = [cases_of(path) for path in xml_files.get(label, [])]
        names = sorted({name for one in cases for name in one.skipped})
        result.skipped_cases.extend(f"{label} {name}" for name in names)
        all_skipped = bool(names) and sum(one.run for one in cases) == 0
        (result.skipped if all_skipped else result.passed).append(label)
    return result


def main(arguments: List[str]) -> int:
    also_failed = "--also_failed="
    extra = [one[len(also_failed) :] for one in arguments if one.startswith(also_failed)]
    arguments = [one for one in arguments if not one.startswith(also_failed)]
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    try:
        outcome = outcome_of(read_events(arguments[0]))
    except OSError as error:
        print(f"count_tests: {error}", file=sys.stderr)
        return 2
    outcome.failed.update((what, "see above") for what in extra)
    for case in outcome.skipped_cases:
        print(f"SKIPPED {case}")
    for label, reason in outcome.failed.items():
        print(f"FAILED  {label} ({reason})")
    counts = f"{len(outcome.passed)} passed, {len(outcome.failed)} failed"
    print(counts + (f", {len(outcome.skipped)} skipped" if outcome.skipped else ""))
    return 0 if outcome.passed and not outcome.failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
